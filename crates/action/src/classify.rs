//! What a command line does: every simple command is judged, and the whole takes the most severe kind.

mod argument;
mod command;
mod cwds;
mod effect;
mod invocation;
mod numbers;
mod sed;
mod walk;

use alloc::{string::String, vec::Vec};

use countersign_canon::Json;

pub(crate) use self::effect::{Plain, Use};
use self::{cwds::Cwds, walk::Judge};
use crate::{Kind, path::Place, shell::parse_line, table::Table};

/// LIMIT: what is worth telling a person about one line.
const FINDINGS_MAX: usize = 64;

/// What a command line does, and why that is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classification {
    /// The most severe kind of anything in the line.
    pub kind: Kind,
    /// What was found in the line, in order: the first 64, and every one that is worse than all before it.
    pub findings: Vec<Finding>,
}

/// What one part of a command line does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The byte of the line where the part starts.
    pub at: usize,
    /// What it is.
    pub kind: Kind,
    /// The part, shortened.
    pub part: String,
    /// Why.
    pub reason: String,
}

impl Finding {
    /// The finding as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        Json::object([
            ("at", Json::from(u32::try_from(self.at).unwrap_or(u32::MAX))),
            ("kind", Json::from(self.kind.as_str())),
            ("part", Json::from(self.part.clone())),
            ("reason", Json::from(self.reason.clone())),
        ])
    }
}

/// Judges a command line by the table, as seen from a place.
///
/// What cannot be parsed or is not in the table is `shell.unknown`; there is no error.
#[must_use]
pub fn classify_line(table: &Table, place: &Place, line: &str) -> Classification {
    let mut judge = Judge::new(table, place);
    let kind = match parse_line(line) {
        Ok(tree) => judge.tree(&tree, &Cwds::at(&place.cwd)),
        Err(issue) => {
            let at = issue.offset.unwrap_or_default();
            judge.find(
                Kind::ShellUnknown,
                at,
                line,
                &alloc::format!("cannot be parsed: {issue} ({})", issue.code),
            )
        }
    };
    Classification { kind, findings: judge.into_findings() }
}

#[cfg(test)]
mod tests;
