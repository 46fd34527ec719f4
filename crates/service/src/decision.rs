//! Decisions as they are asked for and answered.

use countersign_canon::{Json, Text, Wire};
use countersign_ledger::{Decided, Executor, SignedCheckpoint};
use countersign_policy::{
    ActionKind, ApprovalId, EvidenceRef, ProbeFacts, SessionId, Warrant, codes as policy_codes,
};
use countersign_store::{Answer, Command, Decide, FreshIds, Permit, Proceed, Reply};

use crate::{ServiceError, node::unexpected};

/// An action to be decided. The time, and the ids of what the decision makes, are the service's to give.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The session or run it belongs to.
    pub session_id: Option<SessionId>,
    /// Its kind.
    pub action_kind: ActionKind,
    /// Its payload.
    pub action_payload: Json<'static>,
    /// The approval that comes with it.
    pub approval_id: Option<ApprovalId>,
    /// The evidence that comes with it.
    pub evidence_refs: Vec<EvidenceRef>,
    /// How well founded its claim is.
    pub warrant: Option<Warrant>,
    /// What a probe found about the client; without it nothing counts as found.
    pub probe: Option<ProbeFacts>,
    /// Whether it begins at once if it is allowed.
    pub proceed: Proceed,
    /// The name under which a lost answer is found again.
    pub client_request_id: Option<Text<1, 128>>,
    /// Whether whoever carries it out says how it went.
    pub executor: Executor,
}

impl Ask {
    /// Asks about an action, without beginning it.
    #[must_use]
    pub const fn new(action_kind: ActionKind, action_payload: Json<'static>) -> Self {
        Self {
            session_id: None,
            action_kind,
            action_payload,
            approval_id: None,
            evidence_refs: Vec::new(),
            warrant: None,
            probe: None,
            proceed: Proceed::Ask,
            client_request_id: None,
            executor: Executor::Reporting,
        }
    }

    /// The same, in this session.
    #[must_use]
    pub fn in_session(self, session: &SessionId) -> Self {
        Self { session_id: Some(session.clone()), ..self }
    }

    /// The same, with this approval.
    #[must_use]
    pub fn with_approval(self, approval: &ApprovalId) -> Self {
        Self { approval_id: Some(approval.clone()), ..self }
    }

    /// The same, to begin at once if it is allowed.
    #[must_use]
    pub fn to_begin(self) -> Self {
        Self { proceed: Proceed::Begin, ..self }
    }

    /// What the store is told: what the decision makes gets these ids.
    pub(crate) fn into_command(self, fresh: FreshIds) -> Command {
        Command::Decide(Box::new(Decide {
            session_id: self.session_id,
            action_kind: self.action_kind,
            action_payload: self.action_payload,
            approval_id: self.approval_id,
            evidence_refs: self.evidence_refs,
            warrant: self.warrant,
            probe: self.probe,
            proceed: self.proceed,
            client_request_id: self.client_request_id,
            executor: self.executor,
            fresh,
        }))
    }
}

/// The answer, after it is durable.
#[derive(Debug, PartialEq)]
#[must_use = "a permit that is not acted on leaves an execution in doubt"]
pub struct Decision {
    /// What was decided, and why.
    pub decided: Decided,
    /// The right to begin, if the action may begin now.
    pub permit: Option<Permit>,
    /// The signed end of the log that holds the decision: for the caller to keep.
    pub checkpoint: Option<SignedCheckpoint>,
    /// Whether this is the answer to an earlier request with the same name.
    pub is_replay: bool,
}

impl Decision {
    /// The answer of the store to a question about an action.
    pub(crate) fn from_answer(answer: Answer) -> Result<Self, ServiceError> {
        let Answer { reply, permit, checkpoint, is_replay, .. } = answer;
        let Reply::Decided(decided) = reply else { return Err(unexpected(&reply)) };
        Ok(Self { decided: *decided, permit, checkpoint, is_replay })
    }

    /// The code of the decision.
    #[must_use]
    pub fn code(&self) -> &str {
        self.decided.trace.get("decision_code").and_then(Json::as_str).unwrap_or_default()
    }

    /// The answer as a document: the trace's fields, and what came of the decision.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let Decided { decision_id, reason, trace, permit, pending_approval } = &self.decided;
        let trace = trace.members().iter().map(|member| (member.key.clone(), member.value.clone()));
        let text = |text: &str| Json::from(text.to_owned());
        let others = [
            ("decision_id", Some(decision_id.write())),
            ("reason", Some(reason.write())),
            ("permit", permit.as_ref().map(Wire::write)),
            ("pending_approval", pending_approval.as_ref().map(Wire::write)),
            ("checkpoint", self.checkpoint.as_ref().map(|note| text(note.as_str()))),
            ("idempotent_replay", Some(Json::from(self.is_replay))),
        ];
        let others = others.into_iter().filter_map(|(key, value)| Some((key.into(), value?)));
        Json::object(trace.chain(others))
    }

    /// Whether only a person's approval is missing.
    #[must_use]
    pub fn needs_approval(&self) -> bool {
        self.code() == policy_codes::URM_APPROVAL_REQUIRED.as_str()
    }

    /// Whether the action is allowed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.decided.trace.get("decision").and_then(Json::as_str) == Some("allow")
    }
}
