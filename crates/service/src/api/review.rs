//! What a reviewer sees: the whole action, how it differs from the last one that was approved, and why it is asked about.

use std::collections::BTreeSet;

use countersign_canon::{Json, Nullable, Object, Pointer, Reader, Value, record, redact_secrets};
use countersign_ledger::{Approval, DecisionRecord, LoadedVersion};
use countersign_policy::{Advisory, Capability, EvidenceRef, RuleId, TraceDocument, Warrant, rule_in_words};

use crate::{Node, ServiceError, code::codes};

record! {
    /// An approval as a reviewer sees it. Secrets are not shown; the action's hash covers them all the same.
    pub struct ApprovalView {
        /// The approval.
        approval: Approval,
        /// The whole action, as it was asked for.
        action: Option<Object<'static>>,
        /// The last action of this kind that a person granted in this session, to compare with.
        last_approved: Option<Object<'static>>,
        /// How the payload differs from that one's.
        changes: Vec<PayloadChange>,
        /// Why it is asked about.
        asked: Option<ReviewedDecision>,
        /// The command with which a person grants it.
        command: String,
    }
}

record! {
    /// One place at which a payload differs from another.
    pub struct PayloadChange {
        /// Where, as a JSON pointer.
        pointer: String,
        /// What stands there in the payload that was approved; nothing if it has no such place.
        before: Option<Json<'static>>,
        /// What stands there now; nothing if there is no such place.
        after: Option<Json<'static>>,
    }
}

record! {
    /// The decision that asked for an approval.
    pub struct ReviewedDecision {
        /// Every rule that matched.
        rules: Vec<ReviewedRule>,
        /// What could go wrong.
        risk: Risk,
        /// The evidence that came with the action.
        evidence_refs: Vec<EvidenceRef>,
    }
}

record! {
    /// A rule, in words.
    pub struct ReviewedRule {
        /// Its name.
        rule_id: RuleId,
        /// What it says to people.
        message: String,
        /// When it matches and what it does.
        words: String,
    }
}

record! {
    /// What could go wrong, as far as policy and lattice know.
    pub struct Risk {
        /// Whether the action changes something; null if the lattice does not know its kind.
        writes: Nullable<bool>,
        /// What it makes use of; null if the lattice does not know its kind.
        capability: Nullable<Capability>,
        /// How well founded its claim is; null if it makes none.
        warrant: Nullable<Warrant>,
        /// Whether a rule marked that claim as not to be relied on.
        warrant_invalid: bool,
        /// What rules advise.
        advisories: Vec<Advisory>,
    }
}

/// The approval as its reviewers see it.
pub(super) fn view(node: &Node, approval: Approval) -> Result<ApprovalView, ServiceError> {
    let store = node.store();
    let action = store.action(&approval.action_hash)?;
    let last = store.last_granted(&approval)?;
    let last = last.map_or(Ok(None), |last| store.action(&last.action_hash))?;
    let payload = |action: &Option<Object<'static>>| action.as_ref()?.get("action_payload").cloned();
    let compared = payload(&last).zip(payload(&action)).map(|(last, this)| changes(&last, &this));
    let decision = approval.decision_id.as_ref().map_or(Ok(None), |id| store.decision(id))?;
    Ok(ApprovalView {
        action: action.as_ref().map(redacted),
        last_approved: last.as_ref().map(redacted),
        changes: compared.unwrap_or_default(),
        asked: decision.map(|decision| reviewed(node, &decision)).transpose()?,
        command: approval.command(),
        approval,
    })
}

fn redacted(action: &Object<'static>) -> Object<'static> {
    redact_secrets(&Json::from(Value::Object(action.clone()))).as_object().cloned().unwrap_or_default()
}

fn reviewed(node: &Node, decision: &DecisionRecord) -> Result<ReviewedDecision, ServiceError> {
    let version = node.store().policy_version(decision.policy_version)?;
    let version = version.ok_or_else(|| ServiceError::defect("a policy version is missing"))?;
    let loaded = LoadedVersion::load(&version).map_err(ServiceError::defect)?;
    let trace = Json::from(Value::Object(decision.trace.clone()));
    let trace: TraceDocument = Reader::read_json(&trace, codes::SERVICE_DEFECT)
        .map_err(|_| ServiceError::defect("the trace of a decision cannot be read"))?;
    let entry = loaded.lattice.action(&decision.context.action_kind);
    let matched = loaded.policy.rules().iter().filter(|rule| trace.matched_rule_ids.contains(&rule.rule_id));
    let words = matched.map(|rule| ReviewedRule {
        rule_id: rule.rule_id.clone(),
        message: rule.message.clone(),
        words: rule_in_words(rule),
    });
    Ok(ReviewedDecision {
        rules: words.collect(),
        risk: Risk {
            writes: Nullable(entry.map(|entry| entry.requires_writes_allowed)),
            capability: Nullable(entry.map(|entry| entry.capability.clone())),
            warrant: decision.context.warrant,
            warrant_invalid: trace.warrant_invalid,
            advisories: trace.advisories,
        },
        evidence_refs: trace.evidence_refs,
    })
}

/// Every place at which two payloads differ, in order. A secret that has changed is named and not shown.
fn changes(before: &Json<'_>, after: &Json<'_>) -> Vec<PayloadChange> {
    let mut places = Vec::new();
    compare(&Pointer::root(), Some(before), Some(after), &mut places);
    let (before, after) = (redact_secrets(before), redact_secrets(after));
    let shown = |pointer: Pointer| PayloadChange {
        before: pointer.find(&before).cloned(),
        after: pointer.find(&after).cloned(),
        pointer: pointer.to_string(),
    };
    places.into_iter().map(shown).collect()
}

/// Recursion is bounded: a parsed document is at most `DEPTH_MAX` deep.
fn compare(at: &Pointer, before: Option<&Json<'_>>, after: Option<&Json<'_>>, places: &mut Vec<Pointer>) {
    let values = (before.map(|json| &json.value), after.map(|json| &json.value));
    if let (Some(Value::Object(before)), Some(Value::Object(after))) = values {
        let keys = before.members().iter().chain(after.members()).map(|member| &*member.key);
        for key in keys.collect::<BTreeSet<_>>() {
            compare(&at.key(key), before.get(key), after.get(key), places);
        }
    } else if let (Some(Value::Array(before)), Some(Value::Array(after))) = values {
        for index in 0..before.len().max(after.len()) {
            compare(&at.index(index), before.get(index), after.get(index), places);
        }
    } else if before.map(Json::to_canonical) != after.map(Json::to_canonical) {
        places.push(at.clone());
    }
}
