//! Gate E: the program plans in an empty home and leaves nothing outside `--out`.

use countersign_canon::Issue;

use super::{
    Engine, Gate,
    examples::{Example, Examples},
};
use crate::effects::{files, folder, isolation};

pub(super) const GATE: Gate =
    Gate { letter: "E", what: "runs in an empty home, touches nothing outside its output", check };

fn check(examples: &Examples, _: Engine) -> Vec<String> {
    if examples.examples.is_empty() {
        return vec!["there is no example to run".to_owned()];
    }
    let judged = examples.examples.iter().map(try_check);
    judged.flat_map(|found| found.unwrap_or_else(|issue| vec![issue.to_string()])).collect()
}

fn try_check(example: &Example) -> Result<Vec<String>, Issue> {
    let (work, home) = (files::temporary_folder()?, files::temporary_folder()?);
    let mut arguments =
        vec!["dry-run", "plan", example.intent.0.as_str(), "--out", "out", "--now", &example.now];
    if let Some((name, _)) = &example.evaluation {
        arguments.extend(["--evaluation", name]);
    }
    for (name, bytes) in [&example.intent].into_iter().chain(&example.evaluation) {
        folder::put(&work.path().join(name), &String::from_utf8_lossy(bytes))?;
    }
    let before = folder::names(work.path());
    let exit = isolation::run_self(work.path(), home.path(), &arguments)?;
    let mut complaints = Vec::new();
    if exit != Some(0) {
        complaints.push(format!("{}: ends with {exit:?}", example.name));
    }
    let mut after = folder::names(work.path());
    after.retain(|name| name != "out");
    if after != before {
        complaints.push(format!("{}: the working folder changed: {after:?}", example.name));
    }
    let left = folder::names(home.path());
    if !left.is_empty() {
        complaints.push(format!("{}: left {left:?} in the home folder", example.name));
    }
    let out = work.path().join("out");
    match folder::names(&out).as_slice() {
        [only] if files::read(&out.join(only)).ok().as_ref() == example.files.get("result.json") => (),
        written => complaints.push(format!("{}: wrote {written:?}, not the shipped result", example.name)),
    }
    Ok(complaints)
}
