//! Single contexts and requests that show something, as documents that the evaluator can be asked about.

use alloc::vec::Vec;

use countersign_canon::{Nullable, Timestamp, record};
use countersign_policy::{
    ActionHash, ActionKind, ApprovalRecord, Context, EvidenceRef, Mode, ProbeFacts, ProvidedApproval,
    Request, Role, SessionFacts, SessionId, Warrant,
};

record! {
    /// A request for a decision, whole.
    pub struct RequestDocument {
        /// The kind of action.
        action_kind: ActionKind,
        /// The action.
        action_hash: ActionHash,
        /// The session.
        session_id: Option<SessionId>,
        /// Its role.
        role: Nullable<Role>,
        /// Its mode.
        mode: Mode,
        /// Whether it is live.
        session_active: bool,
        /// What a probe found.
        probe: ProbeFacts,
        /// The approval that came, if it is known.
        approval: Option<ApprovalRecord>,
        /// Whether one came that is not known.
        approval_is_unknown: bool,
        /// The evidence that came.
        evidence_refs: Vec<EvidenceRef>,
        /// How well founded the claim is.
        warrant: Nullable<Warrant>,
        /// When.
        evaluation_ts: Timestamp,
    }
}

impl RequestDocument {
    /// A request at a time, as a document.
    #[must_use]
    pub fn new(request: Request, evaluation_ts: Timestamp) -> Self {
        let Request { action_kind, action_hash, session, probe, approval, evidence_refs, warrant } = request;
        let approval_is_unknown = approval == ProvidedApproval::Unknown;
        let approval = match approval {
            ProvidedApproval::Record(record) => Some(record),
            ProvidedApproval::Unknown | ProvidedApproval::NotProvided => None,
        };
        Self {
            action_kind,
            action_hash,
            session_id: session.session_id,
            role: Nullable(session.role),
            mode: session.mode,
            session_active: session.active,
            probe,
            approval,
            approval_is_unknown,
            evidence_refs,
            warrant: Nullable(warrant),
            evaluation_ts,
        }
    }

    /// The request that the kernel takes.
    #[must_use]
    pub fn request(&self) -> Request {
        let this = self.clone();
        Request {
            action_kind: this.action_kind,
            action_hash: this.action_hash,
            session: SessionFacts {
                session_id: this.session_id,
                role: this.role.0,
                mode: this.mode,
                active: this.session_active,
            },
            probe: this.probe,
            approval: match (this.approval, this.approval_is_unknown) {
                (Some(record), _) => ProvidedApproval::Record(record),
                (None, true) => ProvidedApproval::Unknown,
                (None, false) => ProvidedApproval::NotProvided,
            },
            evidence_refs: this.evidence_refs,
            warrant: this.warrant.0,
        }
    }
}

record! {
    /// Something that shows something: exactly one of its fields is there.
    pub struct Witness {
        /// A context, for theorems about the rules alone.
        context: Option<Context>,
        /// A request, for theorems about all seven steps.
        request: Option<RequestDocument>,
    }
}
