//! `.countersign/config.yml`: what agents may do in this workspace before anybody asks.

use countersign_canon::{Issue, NonEmpty, Reader, choice, record};
use countersign_policy::Mode;

use crate::{
    failure::codes,
    yaml::{self, Dialect, Parsed},
};

/// What `countersign init` writes.
pub(crate) const STANDARD: &str = "\
# Countersign's settings for this workspace.
schema: countersign.config.v1
# What a new session of an agent may do: read_only, or writes_allowed. Rules and approvals come on top.
mode: writes_allowed
";

choice! {
    /// The version of the settings.
    pub(crate) enum ConfigSchema {
        /// The only one so far.
        V1 = "countersign.config.v1",
    }
}

record! {
    /// The settings of a workspace.
    pub(crate) struct Config {
        /// The version.
        schema: ConfigSchema,
        /// What a new session may do.
        mode: Mode,
    }
}

impl Config {
    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the file.
    pub(crate) fn load(bytes: &[u8]) -> Result<Self, NonEmpty<Issue>> {
        // Mostly nobody has touched them.
        if bytes == STANDARD.as_bytes() { Ok(Self::standard()) } else { Self::read(bytes) }
    }

    /// What [`STANDARD`] says.
    const fn standard() -> Self {
        Self { schema: ConfigSchema::V1, mode: Mode::WritesAllowed }
    }

    fn read(bytes: &[u8]) -> Result<Self, NonEmpty<Issue>> {
        let Parsed { document, issues } = yaml::parse(bytes, Dialect::Texts);
        let issues = issues.into_iter().map(|issue| issue.under(codes::CLI_CONFIG_INVALID)).collect();
        match (NonEmpty::new(issues), document) {
            (Some(issues), _) => Err(issues),
            (None, Some(document)) => Reader::read_json(&document, codes::CLI_CONFIG_INVALID),
            (None, None) => {
                Err(NonEmpty::of(Issue::new(codes::CLI_CONFIG_INVALID, "the settings could not be read")))
            }
        }
    }
}

#[cfg(test)]
mod tests;
