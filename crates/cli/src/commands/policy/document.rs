//! A policy file: JSON, or YAML by its name.

use std::path::Path;

use countersign_canon::{Issue, Json, NonEmpty, Value};
use countersign_policy::{Policy, codes};

use crate::{
    failure::Failure,
    source::Source,
    yaml::{self, Dialect, Parsed},
};

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
        let Parsed { document, issues } = yaml::parse(&self.source.bytes, Dialect::Json);
        let in_family = |issue: Issue| {
            let is_too_deep = issue.code == yaml::codes::YAML_TOO_DEEP;
            let family =
                if is_too_deep { codes::URM_POLICY_CAP_EXCEEDED } else { codes::URM_POLICY_INVALID_SCHEMA };
            issue.under(family)
        };
        match NonEmpty::new(issues.into_iter().map(in_family).collect()) {
            Some(issues) => Err(issues),
            None => Ok(document.unwrap_or_else(|| Json::from(Value::Null))),
        }
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
