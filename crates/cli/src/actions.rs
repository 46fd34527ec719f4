//! The table of actions: the one that ships, or one from a file.

use countersign_action::{Table, TableDocument, TableHash, codes};
use countersign_canon::{Issue, Json, NonEmpty, Reader};

use crate::yaml::{self, Dialect, Parsed};

/// The table that ships with the program.
pub(crate) const SHIPPED: &[u8] = include_bytes!("../../../policy/actions.v1.yml");

/// The same table as lines, generated from it: a hook reads it before every call, and only what it needs of it.
const SHIPPED_LINES: &str = include_str!("../../../policy/actions.v1.lines");

/// The table of actions that ships with the program.
///
/// # Errors
///
/// Fails if it is not valid, which a test rules out.
pub fn shipped_actions() -> Result<Table, NonEmpty<Issue>> {
    Table::from_lines(SHIPPED_LINES)
}

/// The hash of the table that ships with the program.
pub(crate) fn shipped_hash() -> Result<TableHash, NonEmpty<Issue>> {
    hash(SHIPPED)
}

/// The table that ships with the program as lines, from its source in YAML.
///
/// # Errors
///
/// Fails with every problem of the source.
pub fn shipped_actions_lines() -> Result<String, NonEmpty<Issue>> {
    Table::to_lines(&document(SHIPPED)?)
}

/// Reads a table of actions from YAML.
pub(crate) fn load(bytes: &[u8]) -> Result<Table, NonEmpty<Issue>> {
    Table::load(&document(bytes)?)
}

/// Reads a table of actions from YAML as the document that it is.
pub(crate) fn read(bytes: &[u8]) -> Result<TableDocument, NonEmpty<Issue>> {
    let document = document(bytes)?;
    Table::load(&document)?;
    Reader::read_json(&document, codes::ACTION_TABLE_INVALID)
}

/// The hash of a table of actions in YAML.
pub(crate) fn hash(bytes: &[u8]) -> Result<TableHash, NonEmpty<Issue>> {
    Table::hash(&document(bytes)?)
}

fn document(bytes: &[u8]) -> Result<Json<'static>, NonEmpty<Issue>> {
    let Parsed { document, issues } = yaml::parse(bytes, Dialect::Texts);
    let issues: Vec<Issue> =
        issues.into_iter().map(|issue| issue.under(codes::ACTION_TABLE_INVALID)).collect();
    match (NonEmpty::new(issues), document) {
        (Some(issues), _) => Err(issues),
        (None, Some(document)) => Ok(document),
        (None, None) => {
            Err(NonEmpty::of(Issue::new(codes::ACTION_TABLE_INVALID, "the table could not be read")))
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
