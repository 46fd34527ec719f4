//! What every engine must give: the trace, byte for byte. The peers know matching rules; the host makes the rest.

use countersign_canon::Sha256;
use countersign_policy::{ContextHash, Decision, Effect, Evaluation, Gate, Matched, Policy, Trace};

/// Folds the indices of matching rules into a trace: deny, no allow, missing approval, first allow.
pub fn trace(policy: &Policy, matched: Vec<usize>, approved: bool, canonical_context: &[u8]) -> String {
    let matched = Matched::new(policy, matched);
    let first = |effect: Effect| matched.with_effect(effect).next().map(|rule| rule.code.as_str());
    let required_approval = first(Effect::RequireApproval).is_some();
    let warrant_invalid = first(Effect::SetWarrantInvalid).is_some();
    let (decision, decision_code, gate) = match (first(Effect::DenyAction), first(Effect::AllowAction)) {
        (Some(code), _) => (Decision::Deny, code, Gate::Kernel),
        (None, None) => (Decision::Deny, "URM_POLICY_DENIED", Gate::Kernel),
        (None, Some(_)) if required_approval && !approved => {
            (Decision::Deny, "URM_APPROVAL_REQUIRED", Gate::ApprovalRequired)
        }
        (None, Some(code)) => (Decision::Allow, code, Gate::Proceed),
    };
    let evaluation =
        Evaluation { decision, decision_code, gate, required_approval, warrant_invalid, matched };
    let trace = Trace {
        evaluation,
        input_context_hash: ContextHash::of_canonical(canonical_context),
        evidence_refs: Vec::new(),
        bindings: None,
    };
    trace.to_canonical()
}

/// The hash alone, for the row that everything is compared with.
pub fn sha256(bytes: &[u8]) -> Sha256 {
    Sha256::of(bytes)
}
