//! What the events of a decision say beside their envelope.

use alloc::{string::String, vec::Vec};

use countersign_canon::{Sha256, Text, Within, choice, record};
use countersign_policy::{ActionHash, ActionKind, ApprovalId, ContextHash, PolicyHash, RuleId};

use crate::{DecisionId, ExecutionState, PermitId, VersionNumber};

choice! {
    /// What stands where a code will stand.
    pub enum PendingCode {
        /// Nothing is decided yet.
        Pending = "PENDING",
    }
}

record! {
    /// What `POLICY_EVAL_START` says.
    pub struct EvaluationStarted {
        /// The decision that is about to be made.
        decision_id: DecisionId,
        /// Under which rules.
        policy_hash: PolicyHash,
        /// Which has no code yet.
        decision_code: PendingCode,
        /// And no rules.
        matched_rule_ids: Vec<RuleId>,
    }
}

record! {
    /// What `POLICY_EVAL_PASS` and `POLICY_DENIED` say.
    pub struct EvaluationEnded {
        /// The decision.
        decision_id: DecisionId,
        /// The hash of its record.
        decision_hash: Sha256,
        /// Under which policy version.
        policy_version: VersionNumber,
        /// Under which rules.
        policy_hash: PolicyHash,
        /// With which code.
        decision_code: String,
        /// Every matching rule, in the order in which rules decide.
        matched_rule_ids: Vec<RuleId>,
        /// The kind of action.
        action_kind: ActionKind,
        /// The action.
        action_hash: ActionHash,
        /// From which facts.
        input_context_hash: ContextHash,
        /// Whether an approval is required.
        required_approval: bool,
        /// Which of the seven steps decided.
        gate: Within<1, 7>,
    }
}

record! {
    /// What `EXECUTION_STARTED`, `EXECUTION_FINISHED` and `EXECUTION_IN_DOUBT` say.
    pub struct ExecutionTold {
        /// The execution.
        permit_id: PermitId,
        /// The decision that let it begin.
        decision_id: DecisionId,
        /// What is executed.
        action_hash: ActionHash,
        /// Where it stands.
        state: ExecutionState,
        /// The approval that it used up, if it needed one.
        approval_id: Option<ApprovalId>,
        /// What was said about its outcome.
        detail: Option<Text<0, 4000>>,
    }
}
