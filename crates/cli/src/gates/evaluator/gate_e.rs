//! Gate E: the program runs in an empty home and leaves nothing outside its output.

use countersign_canon::Issue;

use super::{Engine, Gate, examples::Examples};
use crate::effects::{files, folder};

pub(super) const GATE: Gate =
    Gate { letter: "E", what: "runs in an empty home, touches nothing outside its output", check };

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    match try_check(examples, engine) {
        Ok(complaints) => complaints,
        Err(issue) => vec![issue.to_string()],
    }
}

fn try_check(examples: &Examples, engine: Engine) -> Result<Vec<String>, Issue> {
    let mut complaints = Vec::new();
    for example in &examples.examples {
        let Some((set, _)) = example.set_file() else { continue };
        let (work, home) = (files::temporary_folder()?, files::temporary_folder()?);
        for (file, bytes) in example.files.iter().filter(|(file, _)| file.starts_with("intent_")) {
            folder::put(&work.path().join(file), &String::from_utf8_lossy(bytes))?;
        }
        let before = folder::names(work.path());
        let exit = (engine.run)(work.path(), home.path(), &["intent", "evaluate", set, "--out", "out"])?;
        if !matches!(exit, Some(0 | 3)) {
            complaints.push(format!("{}: ends with {exit:?}", example.name));
        }
        let mut after = folder::names(work.path());
        after.retain(|name| name != "out");
        if after != before {
            complaints.push(format!("{}: the working folder changed: {after:?}", example.name));
        }
        for (file, bytes) in example.files.iter().filter(|(file, _)| file.starts_with("intent_")) {
            if files::read(&work.path().join(file)).is_ok_and(|now| now != *bytes) {
                complaints.push(format!("{}: {file} is not what it was", example.name));
            }
        }
        let left = folder::names(home.path());
        if !left.is_empty() {
            complaints.push(format!("{}: left {left:?} in the home folder", example.name));
        }
        let written = folder::names(&work.path().join("out"));
        if !written.contains(&"evaluation_result.json".to_owned()) {
            complaints.push(format!("{}: wrote {written:?}", example.name));
        }
    }
    if examples.root.as_os_str().is_empty() || examples.examples.is_empty() {
        complaints.push("there is no example to run".to_owned());
    }
    Ok(complaints)
}
