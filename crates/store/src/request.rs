//! What can be asked of a store, and what it answers.

use countersign_canon::{Code, Json, Sha256, Text, Timestamp, Value, Wire as _};
use countersign_ledger::{
    Access, Activation, Approval, ApproverKey, Decided, DecisionId, Event, Execution, Executor, Grant,
    GrantRefusal, NewEvent, OutcomeStatus, PermitId, Principal, ProofArtifact, Reason, Session, SessionKind,
    Source, StepRefusal, Token, VersionNumber,
};
use countersign_policy::{
    ActionKind, ApprovalId, EvidenceRef, Mode, ProbeFacts, Role, SessionId, Warrant, codes as policy_codes,
};

use crate::{StoreError, code::codes};

/// Who asks, and through which door: from the credential, never from a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Origin {
    /// Who.
    pub principal: Principal,
    /// What they may do.
    pub access: Access,
    /// The hash of the token that showed it, if one did: it must still count when the command is carried out.
    pub credential: Option<Sha256>,
    /// Through which door.
    pub endpoint: Text<1, 128>,
    /// Which part of the product passes it on.
    pub source: Source,
}

/// One request, with the instant at which it came in.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Who asks.
    pub origin: Origin,
    /// When: read from the clock once, by whoever took the request.
    pub now: Timestamp,
    /// What.
    pub command: Command,
}

/// What can be asked of a store. Everything a command does is one transaction.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Start a session or a run.
    StartSession(StartSession),
    /// End a session.
    StopSession(SessionId),
    /// Decide an action, and perhaps let it begin.
    Decide(Box<Decide>),
    /// Say yes to a request for an approval.
    Grant(ApprovalId, Box<Grant>),
    /// Say no to a request for an approval.
    Deny(ApprovalId, Reason),
    /// Take a granted approval back.
    Revoke(ApprovalId),
    /// Say how an execution went.
    Finish(PermitId, OutcomeStatus, Text<0, 4000>),
    /// Note which approvals have expired and which executions are in doubt.
    Sweep,
    /// Put a policy version in force.
    Activate(Box<PolicyDocuments>),
    /// Put an earlier policy version back in force.
    RollBack(VersionNumber),
    /// Keep what was proved about a policy version, or not.
    KeepProofs(VersionNumber, Vec<KeptProof>),
    /// Register an approver's key.
    AddKey(Box<ApproverKey>),
    /// Stop counting a key.
    RevokeKey(countersign_ledger::KeyId),
    /// Register a token.
    AddToken(Token),
    /// Stop counting a token.
    RevokeToken(Principal),
    /// Append events that stand for themselves.
    Append(Vec<NewEvent>),
}

/// A proof to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptProof {
    /// What was proved, or not.
    pub artifact: ProofArtifact,
    /// The certificate; nothing where there is no proof.
    pub certificate: Option<String>,
}

/// A session to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct StartSession {
    /// Its id.
    pub session_id: SessionId,
    /// A session or a run.
    pub kind: SessionKind,
    /// Its role.
    pub role: Role,
    /// Its mode.
    pub mode: Mode,
    /// What the client calls itself.
    pub client: Text<1, 128>,
}

/// Whether an allowed action begins at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proceed {
    /// It does: an approval it needs is used up, and a permit issued.
    Begin,
    /// It does not; the question alone is answered and recorded.
    Ask,
}

/// An action to be decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Decide {
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
    /// What the probe of the client found; without it nothing counts as found.
    pub probe: Option<ProbeFacts>,
    /// Whether it begins at once.
    pub proceed: Proceed,
    /// Whether whoever carries it out says how it went.
    pub executor: Executor,
    /// The name under which a lost answer is found again.
    pub client_request_id: Option<Text<1, 128>>,
    /// Fresh ids for what the decision may make.
    pub fresh: FreshIds,
}

/// Random ids that nothing has yet.
#[derive(Debug, Clone, PartialEq)]
pub struct FreshIds {
    /// For the decision.
    pub decision_id: DecisionId,
    /// For the permit, if there will be one.
    pub permit_id: PermitId,
    /// For the request for an approval, if there will be one.
    pub approval_id: ApprovalId,
}

impl Decide {
    /// The hash of what was asked, without the fresh ids: two requests with one name must be the same request.
    pub(crate) fn payload_hash(&self) -> Sha256 {
        let text = |text: Option<&str>| {
            text.map_or_else(|| Json::from(Value::Null), |text| Json::from(text.to_owned()))
        };
        Sha256::of_json(&Json::object([
            ("session_id", text(self.session_id.as_ref().map(SessionId::as_str))),
            ("action_kind", self.action_kind.write()),
            ("action_payload", self.action_payload.clone()),
            ("approval_id", text(self.approval_id.as_ref().map(ApprovalId::as_str))),
            ("evidence_refs", Json::array(self.evidence_refs.iter().map(EvidenceRef::write))),
            ("warrant", text(self.warrant.map(Warrant::as_str))),
            ("proceed", Json::from(self.proceed == Proceed::Begin)),
        ]))
    }
}

/// The three documents of a policy version, as JSON objects.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyDocuments {
    /// The rules.
    pub policy: Json<'static>,
    /// The lattice.
    pub lattice: Json<'static>,
    /// The allow policy.
    pub allow: Json<'static>,
}

/// What a command gives back.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The session as it is now.
    Session(Session),
    /// What was decided.
    Decided(Box<Decided>),
    /// The approval as it is now.
    Approval(Box<Approval>),
    /// The execution as it is now.
    Execution(Box<Execution>),
    /// What a sweep ended.
    Swept(Swept),
    /// What came into force.
    Activated(Activation),
    /// The events as they were appended.
    Appended(Vec<Event>),
    /// There is nothing more to say.
    Done,
}

/// What a sweep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swept {
    /// How many approvals had expired.
    pub expired: usize,
    /// How many executions were in doubt.
    pub in_doubt: usize,
    /// How many executions were closed because nobody ever says how they went.
    pub unreported: usize,
    /// How many answers are no longer found by the name of their request.
    pub forgotten: u64,
}

/// Why a command was refused; nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is nothing under this id.
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// Under which id.
        id: String,
    },
    /// There is something under this id already.
    #[error("there is a {what} `{id}` already")]
    Exists {
        /// What.
        what: &'static str,
        /// Under which id.
        id: String,
    },
    /// The caller may not do this.
    #[error("{} may not do this: {message}", access.as_str())]
    Forbidden {
        /// What the caller may do.
        access: Access,
        /// What this needs.
        message: String,
    },
    /// The token was revoked while the request was under way.
    #[error("the token is revoked")]
    Unauthenticated,
    /// The request contradicts itself or its own rules.
    #[error("{message}")]
    Invalid {
        /// What is wrong.
        message: String,
    },
    /// The session has ended.
    #[error("session `{0}` has ended")]
    SessionStopped(SessionId),
    /// The name of this request belongs to another request.
    #[error("client_request_id `{0}` was used for another request")]
    IdempotencyConflict(String),
    /// No policy is in force.
    #[error("no policy is in force")]
    PolicyNotLoaded,
    /// The answer to a request for an approval is not right.
    #[error(transparent)]
    Grant(#[from] GrantRefusal),
    /// The protocol has no such arrow.
    #[error(transparent)]
    Step(#[from] StepRefusal),
    /// The clock went back.
    #[error("the clock says {now}, the log goes up to {floor}")]
    ClockBack {
        /// What the clock says.
        now: Timestamp,
        /// The latest instant in the log.
        floor: Timestamp,
    },
}

impl Refusal {
    /// The frozen machine code of this refusal.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NotFound { .. } => codes::URM_NOT_FOUND,
            Self::Exists { .. } => codes::URM_EXISTS,
            Self::Forbidden { .. } => codes::URM_FORBIDDEN,
            Self::Unauthenticated => codes::URM_UNAUTHENTICATED,
            Self::Invalid { .. } => codes::URM_REQUEST_INVALID,
            Self::SessionStopped(_) => codes::URM_SESSION_STOPPED,
            Self::IdempotencyConflict(_) => codes::URM_IDEMPOTENCY_KEY_CONFLICT,
            Self::PolicyNotLoaded => policy_codes::URM_POLICY_NOT_LOADED,
            Self::Grant(refusal) => refusal.code(),
            Self::Step(_) => countersign_ledger::ledger_codes::URM_APPROVAL_STATE_CONFLICT,
            Self::ClockBack { .. } => codes::URM_CLOCK_BACK,
        }
    }
}

/// Why a command has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The store could not say. Whatever was asked is denied.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl CallError {
    /// The frozen machine code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Store(error) => error.code(),
            Self::Refused(refusal) => refusal.code(),
        }
    }
}

impl From<StepRefusal> for CallError {
    fn from(refusal: StepRefusal) -> Self {
        Self::Refused(refusal.into())
    }
}

impl From<GrantRefusal> for CallError {
    fn from(refusal: GrantRefusal) -> Self {
        Self::Refused(refusal.into())
    }
}
