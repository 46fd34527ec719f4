//! `countersign scan --explain`: one rule on one file, step by step.

use countersign_canon::{Issue, nearest};
use countersign_scan::{Explanation, Format, Outcome, Plan, codes};

use super::{ScanArguments, could_not_tell};
use crate::{
    console::Console,
    effects::{terminal, tree},
    exit::Exit,
    failure::Failure,
    scan::{search, walk::os_path},
};

pub(super) fn run(arguments: &ScanArguments, names: &[String], console: Console) -> Result<Exit, Failure> {
    let [id, file] = names else {
        return Err(could_not_tell(Issue::new(codes::SCAN_UNKNOWN_RULE, "name a rule and a file")));
    };
    let target = arguments.target.folder()?;
    let bundle = arguments.target.bundle()?;
    let ids = || bundle.rules().iter().map(|rule| rule.id.as_str());
    let Some((rule, index)) = bundle.rules().iter().zip(0_u32..).find(|(rule, _)| rule.id.as_str() == id)
    else {
        let issue = Issue::new(codes::SCAN_UNKNOWN_RULE, format!("no enforced rule has the id `{id}`"));
        let issue = match nearest(id, ids()) {
            Some(meant) => issue.with_hint(format!("did you mean `{meant}`?")),
            None => issue.with_hint("`countersign scan rules` lists them"),
        };
        return Err(could_not_tell(issue));
    };
    let path = countersign_canon::RepoPath::parse(file).map_err(could_not_tell)?;
    let relative = path.as_str().as_bytes();
    let set = Plan::new(&bundle).only(index);
    let searched = tree::open(&target.join(os_path(relative)))
        .and_then(|(mut file, length)| search(&mut file, Some(length), &set, &mut Vec::new()));
    let (findings, _) = searched.map_err(|error| {
        let message = format!("`{file}` could not be read: {error}");
        could_not_tell(
            Issue::new(codes::SCAN_UNREADABLE, message).with_hint("name a file relative to the target"),
        )
    })?;
    let explanation = Explanation::new(&bundle, rule, relative, &findings);
    let format = match arguments.format {
        Some(format) => format,
        None if terminal::stdout_is_terminal() => Format::Text,
        None => Format::Json,
    };
    match format {
        Format::Json => console.data(&explanation.to_json().to_pretty())?,
        Format::Text => console.data(&explanation.to_text())?,
        Format::Sarif | Format::Junit | Format::Github | Format::Markdown => {
            let issue =
                Issue::new(codes::SCAN_OUTPUT, format!("an explanation cannot be written as {format}"));
            return Err(could_not_tell(issue.with_expected("json or text")));
        }
    }
    Ok(match explanation.outcome() {
        Outcome::Pass => Exit::Yes,
        Outcome::Fail => Exit::No,
    })
}
