//! What a workspace always refuses, and where each host keeps rules of its own.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use countersign_action::{Denials, ExportTarget, Kind, TableDocument, denials};
use countersign_canon::{Issue, Json, NonEmpty, Object, Value};
use countersign_policy::shipped;
use countersign_proof::{Documents, Obligation, Outcome, Subject, Theorem, check, prove};

use super::{claude_code, codex, ground::TABLE, workspace::Workspace, workspace::first};
use crate::{
    actions,
    effects::{environment, files},
    failure::codes,
    policy_folder,
};

/// What a workspace always refuses.
pub(crate) struct Refused {
    /// Kinds of action that no context allows: proved, and the certificate checked.
    pub(crate) kinds: BTreeSet<Kind>,
    /// What the table makes of them.
    pub(crate) denials: Denials,
    /// From which policy and table that follows.
    pub(crate) source: String,
}

impl Refused {
    /// Finds it out from the documents of a workspace, or those that ship.
    ///
    /// # Errors
    ///
    /// Fails if one of them is missing or wrong.
    pub(crate) fn find(workspace: &Workspace) -> Result<Self, Issue> {
        let folder = workspace.data.join("policy");
        let [policy, lattice, allow] = match files::mode_of(&folder) {
            Some(_) => policy_folder::read(&folder)?,
            None => {
                let [policy, lattice, allow] = shipped::STANDARD.documents();
                [policy, lattice, allow].map(<[u8]>::to_vec)
            }
        };
        let documents = Documents {
            policy: object(&policy)?,
            lattice: object(&lattice)?,
            allow: object(&allow)?,
            other: None,
        };
        let subject = Subject::load(documents).map_err(one)?;
        let kinds: Result<BTreeSet<Kind>, Issue> = Kind::ALL
            .iter()
            .filter_map(|kind| is_never_allowed(*kind, &subject).map(|is| is.then_some(*kind)).transpose())
            .collect();
        let kinds = kinds?;
        let table = match files::read_if_there(&folder.join(TABLE))? {
            Some(bytes) => bytes,
            None => actions::SHIPPED.to_vec(),
        };
        let document: TableDocument = actions::read(&table).map_err(one)?;
        let table_hash = actions::hash(&table).map_err(one)?;
        let source = format!("policy_hash {}, table_hash {table_hash}", subject.policy().hash());
        Ok(Self { denials: denials(&document, &kinds), kinds, source })
    }
}

/// Whether no request there could be leads to an allowed action of this kind, all seven steps taken together.
fn is_never_allowed(kind: Kind, subject: &Subject) -> Result<bool, Issue> {
    let when = Json::object([
        ("atom", Json::from("action_kind_is")),
        ("args", Json::array([Json::from(kind.as_str())])),
    ]);
    let obligation = Json::object([
        ("schema", Json::from("countersign.obligation@1")),
        ("theorem_id", Json::from("kind_is_never_allowed")),
        ("scope", Json::from("authorize")),
        ("when", when),
        ("never", Json::object([("decision", Json::from("allow"))])),
    ]);
    let obligation = Obligation::load(obligation.to_canonical().as_bytes()).map_err(one)?;
    match prove(&Theorem::Custom(Box::new(obligation)), subject)?.outcome {
        Outcome::Failed(_) => Ok(false),
        Outcome::Proved(certificate) => check(certificate.to_text().as_bytes()).map(|_| true),
    }
}

/// Where a host looks for these rules.
///
/// # Errors
///
/// Fails if the folder of the host is not known.
pub(crate) fn default_place(target: ExportTarget, root: &Path) -> Result<PathBuf, Issue> {
    Ok(match target {
        ExportTarget::ClaudeCode => claude_code::shared_settings(root),
        ExportTarget::CodexRules => codex::home()?.join("rules").join("countersign.rules"),
        ExportTarget::CodexRequirements => codex::requirements(),
        ExportTarget::Gemini => {
            let home = environment::home_folder().ok_or_else(|| {
                Issue::new(codes::INSTALL_SETTINGS, "the folder of Gemini CLI's settings is not known")
                    .with_hint("set HOME")
            })?;
            home.join(".gemini").join("policies").join("countersign.toml")
        }
    })
}

fn object(bytes: &[u8]) -> Result<Object<'static>, Issue> {
    match Json::parse(bytes)?.into_owned().value {
        Value::Object(object) => Ok(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(Issue::new(codes::CLI_USAGE, "a document of the policy is not an object"))
        }
    }
}

fn one(issues: NonEmpty<Issue>) -> Issue {
    first(issues.into_vec())
}

#[cfg(test)]
mod tests;
