//! The report of what was refused: JSON on standard output, the same for people on standard error.

use countersign_canon::{Issue, Json, NonEmpty, Pointer};

use crate::{
    console::{Console, issue_as_json},
    exit::Exit,
    failure::Failure,
    source::Source,
};

/// A file and everything that is wrong with it.
#[derive(Debug)]
pub(crate) struct Refusal {
    source: Source,
    issues: Vec<Issue>,
}

impl Refusal {
    /// The document.
    pub(crate) fn name(&self) -> &str {
        &self.source.name
    }

    pub(crate) fn new(source: Source, issues: NonEmpty<Issue>) -> Self {
        let issues = issues.into_vec().into_iter().map(|issue| located(&source, issue)).collect();
        Self { source, issues }
    }
}

/// The issue with its place in the text, which rules on checked documents do not know.
fn located(source: &Source, issue: Issue) -> Issue {
    if issue.offset.is_some() || issue.pointer == Pointer::root() {
        return issue;
    }
    let offset = source.parse().ok().and_then(|json| issue.pointer.find(&json).map(Json::offset));
    match offset {
        Some(offset) => issue.with_offset(offset),
        None => issue,
    }
}

/// The report {valid, issues[{code, file, place, pointer, message, hint?}]}.
fn document(refusals: &[Refusal]) -> Json<'static> {
    let issues = refusals.iter().flat_map(|Refusal { source, issues }| {
        issues.iter().map(move |issue| {
            let row = issue_as_json(Some(source), issue);
            let members = row.as_object().map(|object| object.members().to_vec()).unwrap_or_default();
            let members = members.into_iter().map(|member| (member.key, member.value));
            Json::object(members.chain([("file".into(), Json::from(source.name.clone()))]))
        })
    });
    Json::object([("valid", Json::from(refusals.is_empty())), ("issues", Json::array(issues))])
}

/// Prints the report and says how the command ends.
pub(crate) fn show(refusals: &[Refusal], console: Console) -> Result<Exit, Failure> {
    for Refusal { source, issues } in refusals {
        issues.iter().for_each(|issue| console.say(&console.issue_as_text(Some(source), issue)));
    }
    console.data(&document(refusals).to_pretty())?;
    Ok(if refusals.is_empty() { Exit::Yes } else { Exit::No })
}
