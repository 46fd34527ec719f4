//! The report of what was refused: JSON on standard output, the same for people on standard error.

use countersign_canon::{Issue, Json};

use crate::{console::Console, exit::Exit, failure::Failure};

/// One problem and the file it is in.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) file: String,
    pub(crate) issue: Issue,
}

/// The report {valid, issues[{code, file, pointer, message, hint?}]}.
pub(crate) fn document(rows: &[Row]) -> Json<'static> {
    let issues = rows.iter().map(|row| {
        let members =
            row.issue.to_json().as_object().map(|object| object.members().to_vec()).unwrap_or_default();
        let members = members.into_iter().map(|member| (member.key, member.value));
        Json::object(members.chain([("file".into(), Json::from(row.file.clone()))]))
    });
    Json::object([("valid", Json::from(rows.is_empty())), ("issues", Json::array(issues))])
}

/// Prints the report and says how the command ends.
pub(crate) fn show(rows: &[Row], console: Console) -> Result<Exit, Failure> {
    for row in rows {
        console.say(&format!("{}: ", row.file));
        console.say(&console.issue_as_text(None, &row.issue));
    }
    console.data(&document(rows).to_pretty())?;
    Ok(if rows.is_empty() { Exit::Yes } else { Exit::No })
}
