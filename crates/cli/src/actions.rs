//! The table of actions: the one that ships, or one from a file.

use countersign_action::{Table, codes};
use countersign_canon::{Issue, NonEmpty};

use crate::yaml::{self, Dialect, Parsed};

/// The table that ships with the program.
const SHIPPED: &[u8] = include_bytes!("../../../policy/actions.v1.yml");

/// The table of actions that ships with the program.
///
/// # Errors
///
/// Fails if it is not valid, which a test rules out.
pub fn shipped_actions() -> Result<Table, NonEmpty<Issue>> {
    load(SHIPPED)
}

/// Reads a table of actions from YAML.
pub(crate) fn load(bytes: &[u8]) -> Result<Table, NonEmpty<Issue>> {
    let Parsed { document, issues } = yaml::parse(bytes, Dialect::Texts);
    let issues: Vec<Issue> =
        issues.into_iter().map(|issue| issue.under(codes::ACTION_TABLE_INVALID)).collect();
    match (NonEmpty::new(issues), document) {
        (Some(issues), _) => Err(issues),
        (None, Some(document)) => Table::load(&document),
        (None, None) => {
            Err(NonEmpty::of(Issue::new(codes::ACTION_TABLE_INVALID, "the table could not be read")))
        }
    }
}

#[cfg(test)]
mod tests;
