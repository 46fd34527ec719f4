//! Decisions as they are asked for and answered.

use countersign_canon::{Json, Text};
use countersign_ledger::{Decided, SignedCheckpoint};
use countersign_policy::{ActionKind, ApprovalId, EvidenceRef, ProbeFacts, SessionId, Warrant};
use countersign_store::{Permit, Proceed};

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
    /// The code of the decision.
    #[must_use]
    pub fn code(&self) -> &str {
        self.decided.trace.get("decision_code").and_then(Json::as_str).unwrap_or_default()
    }

    /// Whether the action is allowed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.decided.trace.get("decision").and_then(Json::as_str) == Some("allow")
    }
}
