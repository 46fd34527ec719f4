//! Why a decision came out as it did, in one sentence for whoever asked.

use countersign_canon::Json;
use countersign_ledger::{Decided, LoadedVersion, PolicyVersion};
use countersign_policy::{Kind, Rule, RuleId, codes as policy_codes};

use crate::{Node, ServiceError};

/// Why a decision came out as it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The rule that decided, if one did.
    pub rule_id: Option<RuleId>,
    /// Its words; where no rule decided, what the code means.
    pub words: String,
}

impl Node {
    /// The rule that decided, and its words.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot say, or no longer holds the policy of the decision.
    pub fn why(&self, decided: &Decided) -> Result<Reason, ServiceError> {
        let text = |key: &str| decided.trace.get(key).and_then(Json::as_str).unwrap_or_default();
        let (code, policy_hash) = (text("decision_code"), text("policy_hash"));
        let matched = decided.trace.get("matched_rule_ids").and_then(Json::as_array).unwrap_or_default();
        let versions = self.store().policy_versions()?;
        let is_it = |version: &&PolicyVersion| version.policy_hash.to_string() == policy_hash;
        let version = versions.iter().find(is_it);
        let version =
            version.ok_or_else(|| ServiceError::defect(format!("no policy has hash {policy_hash}")))?;
        let loaded = LoadedVersion::load(version).map_err(ServiceError::defect)?;
        let is_matched = |rule: &&Rule| matched.iter().any(|id| id.as_str() == Some(rule.rule_id.as_str()));
        let rules: Vec<&Rule> = loaded.policy.rules().iter().filter(is_matched).collect();
        let by_code = rules.iter().find(|rule| rule.code.as_str() == code);
        let asking = || {
            let is_required = code == policy_codes::URM_APPROVAL_REQUIRED.as_str();
            rules.iter().find(|rule| is_required && rule.kind == Kind::Require)
        };
        if let Some(rule) = by_code.or_else(asking) {
            return Ok(Reason { rule_id: Some(rule.rule_id.clone()), words: rule.message.clone() });
        }
        let meaning = policy_codes::ALL.iter().find(|entry| entry.code.as_str() == code);
        let words = meaning.map_or_else(|| code.to_owned(), |entry| entry.meaning.to_owned());
        Ok(Reason { rule_id: None, words })
    }
}
