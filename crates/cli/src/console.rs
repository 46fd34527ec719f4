//! What a command talks to: data goes to standard output, talk to standard error.

use std::fmt::Write as _;

use countersign_canon::{Issue, Json};

use crate::{
    effects::terminal,
    failure::{Failure, codes},
    source::Source,
};

/// How problems are shown on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ErrorFormat {
    /// For people.
    Text,
    /// One JSON object, for machines.
    Json,
}

/// The two outputs of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    /// Whether standard error may carry colour.
    pub(crate) colour: bool,
    /// How problems are shown.
    pub(crate) errors: ErrorFormat,
}

impl Console {
    /// Writes data to standard output.
    pub(crate) fn data(self, text: &str) -> Result<(), Failure> {
        self.bytes(text.as_bytes())
    }

    /// Writes data to standard output, byte for byte.
    #[expect(clippy::unused_self, reason = "only commands, which are given a console, write data")]
    pub(crate) fn bytes(self, bytes: &[u8]) -> Result<(), Failure> {
        terminal::write_stdout(bytes).map_err(|error| {
            if error.kind() == std::io::ErrorKind::BrokenPipe {
                return Failure::OutputClosed;
            }
            let message = format!("standard output could not be written: {error}");
            Failure::CouldNotTell(Issue::new(codes::CLI_WRITE_FAILED, message))
        })
    }

    /// Says something to the person at the terminal.
    #[expect(clippy::unused_self, reason = "only commands, which are given a console, talk")]
    pub(crate) fn say(self, text: &str) {
        terminal::write_stderr(text);
    }

    /// Shows why a command failed.
    pub(crate) fn show(self, failure: &Failure) {
        match failure {
            Failure::OutputClosed => (),
            Failure::Refused { source, issues } => self.show_issues(Some(source), issues),
            Failure::Unusable(documents) => {
                documents.iter().for_each(|(source, issues)| self.show_issues(source.as_ref(), issues));
            }
            Failure::CouldNotTell(issue) => self.show_issues(None, std::slice::from_ref(issue)),
        }
    }

    fn show_issues(self, source: Option<&Source>, issues: &[Issue]) {
        let text = match self.errors {
            ErrorFormat::Text => issues.iter().map(|issue| self.issue_as_text(source, issue)).collect(),
            ErrorFormat::Json => issues_as_json(source, issues),
        };
        self.say(&text);
    }

    /// One issue in the form: code and finding, place, what was expected, what to do.
    pub(crate) fn issue_as_text(self, source: Option<&Source>, issue: &Issue) -> String {
        let (red, bold, plain) =
            if self.colour { ("\x1b[1;31m", "\x1b[1m", "\x1b[0m") } else { ("", "", "") };
        let mut text = format!("{red}error[{}]{plain}{bold}: {}{plain}\n", issue.code, issue.message);
        // Writing to a String cannot fail.
        let pointer = issue.pointer.to_string();
        let _infallible = match (source, pointer.as_str()) {
            (None, "") => Ok(()),
            (None, pointer) => writeln!(text, "  --> {pointer}"),
            (Some(source), "") => writeln!(text, "  --> {}", source.place(issue)),
            (Some(source), pointer) => writeln!(text, "  --> {} at {pointer}", source.place(issue)),
        };
        let cause = issue.cause.map(|cause| cause.to_string());
        for (label, line) in [("cause", &cause), ("expected", &issue.expected), ("hint", &issue.hint)] {
            if let Some(line) = line {
                let _infallible = writeln!(text, "  {label}: {line}");
            }
        }
        text
    }
}

/// All issues as one JSON object on one line: {"file"?, "issues": [{code, message, place?, ...}]}.
fn issues_as_json(source: Option<&Source>, issues: &[Issue]) -> String {
    let issues = ("issues", Json::array(issues.iter().map(|issue| issue_as_json(source, issue))));
    let file = source.map(|source| ("file", Json::from(source.name.clone())));
    let mut text = Json::object([issues].into_iter().chain(file)).to_canonical();
    text.push('\n');
    text
}

/// One issue with its place: {code, message, pointer, place?, ...}.
pub(crate) fn issue_as_json(source: Option<&Source>, issue: &Issue) -> Json<'static> {
    let members = issue.to_json().as_object().map(|object| object.members().to_vec()).unwrap_or_default();
    let members = members.into_iter().map(|member| (member.key, member.value));
    let place = source.map(|source| ("place".into(), Json::from(source.place(issue))));
    Json::object(members.chain(place))
}
