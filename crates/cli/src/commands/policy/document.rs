//! A policy file: JSON, or YAML by its name.

use std::path::Path;

use countersign_canon::{Issue, Json, NonEmpty, canon_codes};
use countersign_policy::{Policy, codes};

use super::yaml;
use crate::{failure::Failure, source::Source};

/// A policy file as it was read.
pub(super) struct PolicyFile {
    pub(super) source: Source,
    is_yaml: bool,
}

impl PolicyFile {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let is_yaml = path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        Ok(Self { source: Source::read(path)?, is_yaml })
    }

    /// The policy, or everything that is wrong with it.
    pub(super) fn policy(&self) -> Result<Policy, NonEmpty<Issue>> {
        if self.is_yaml { Policy::load_json(&self.yaml()?) } else { Policy::load(&self.source.bytes) }
    }

    /// The file as JSON.
    pub(super) fn json(&self) -> Result<Json<'_>, NonEmpty<Issue>> {
        if self.is_yaml {
            return self.yaml();
        }
        self.source.parse().map_err(|issue| NonEmpty::of(issue.under(codes::URM_POLICY_INVALID_SCHEMA)))
    }

    fn yaml(&self) -> Result<Json<'static>, NonEmpty<Issue>> {
        yaml::parse(&self.source.bytes).map_err(|issue| {
            let is_too_deep = issue.code == canon_codes::JSON_TOO_DEEP;
            let family =
                if is_too_deep { codes::URM_POLICY_CAP_EXCEEDED } else { codes::URM_POLICY_INVALID_SCHEMA };
            NonEmpty::of(issue.under(family))
        })
    }
}

/// The policy at this path; refused as a whole if anything is wrong with it.
pub(super) fn load(path: &Path) -> Result<Policy, Failure> {
    let file = PolicyFile::read(path)?;
    file.policy().map_err(|issues| Failure::Refused { source: file.source, issues })
}

/// As [`load`], for commands that cannot answer without it.
pub(super) fn load_or_give_up(path: &Path) -> Result<Policy, Failure> {
    let file = PolicyFile::read(path)?;
    file.policy().map_err(|issues| Failure::Unusable(vec![(Some(file.source), issues)]))
}
