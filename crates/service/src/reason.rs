//! Which rule a decision rests on, for whoever was refused.

use countersign_canon::Json;
use countersign_ledger::{Decided, LoadedVersion, PolicyVersion};
use countersign_policy::{Gate, Rule, RuleId, deciding_rule};

use crate::{Node, ServiceError};

impl Node {
    /// The rule that decided, if one did.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot say, or no longer holds the policy of the decision.
    pub fn deciding_rule(&self, decided: &Decided) -> Result<Option<RuleId>, ServiceError> {
        let text = |key: &str| decided.trace.get(key).and_then(Json::as_str).unwrap_or_default();
        let policy_hash = text("policy_hash");
        let gate = decided.trace.get("gate").and_then(|gate| Gate::from_number(gate.as_number()?.as_i64()?));
        let gate = gate.ok_or_else(|| ServiceError::defect("the trace does not say where it was decided"))?;
        let matched = decided.trace.get("matched_rule_ids").and_then(Json::as_array).unwrap_or_default();
        let versions = self.store().policy_versions()?;
        let is_it = |version: &&PolicyVersion| version.policy_hash.to_string() == policy_hash;
        let missing = || ServiceError::defect(format!("no policy has hash {policy_hash}"));
        let version = versions.iter().find(is_it).ok_or_else(missing)?;
        let loaded = LoadedVersion::load(version).map_err(ServiceError::defect)?;
        let is_matched = |rule: &&Rule| matched.iter().any(|id| id.as_str() == Some(rule.rule_id.as_str()));
        let rules = loaded.policy.rules().iter().filter(is_matched);
        Ok(deciding_rule(gate, rules).map(|rule| rule.rule_id.clone()))
    }
}
