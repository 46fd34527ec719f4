//! Approvals as the kernel sees them: facts about a record, and the precheck that reads them.

use countersign_canon::{Code, Timestamp, choice, record};

use crate::{ActionHash, ActionKind, ApprovalId, QuorumRule, SessionId, codes};

choice! {
    /// Where an approval is in its life.
    pub enum ApprovalState {
        /// Asked for.
        Pending = "pending",
        /// Given.
        Granted = "granted",
        /// Refused by a person.
        Denied = "denied",
        /// Nobody answered in time, or it was not used in time.
        Expired = "expired",
        /// Used.
        Consumed = "consumed",
        /// Taken back.
        Revoked = "revoked",
    }
}

record! {
    /// What is known about an approval when an action asks to use it.
    pub struct ApprovalRecord {
        /// Which approval.
        approval_id: ApprovalId,
        /// Of which session.
        session_id: SessionId,
        /// For which kind of action.
        action_kind: ActionKind,
        /// For which action.
        action_hash: ActionHash,
        /// Where it is in its life.
        state: ApprovalState,
        /// Whether it has every signature that it needs, and each one is good.
        signatures_valid: bool,
        /// The last second at which it can be used.
        expires_at: Timestamp,
        /// By whom it had to be given; records from before this was noted say nothing, and are held to nothing.
        quorum: Option<QuorumRule>,
    }
}

/// The approval that came with an action.
#[derive(Debug, Clone, PartialEq)]
pub enum ProvidedApproval {
    /// None did.
    NotProvided,
    /// An id did, and nothing is known under it.
    Unknown,
    /// This one did.
    Record(ApprovalRecord),
}

/// The approval facts of a context (K1.4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ApprovalFacts {
    /// An approval came with the action.
    pub present: bool,
    /// It is for this action and session, granted at some time, and properly signed.
    pub valid: bool,
    /// `evaluation_ts <= expires_at`.
    pub unexpired: bool,
    /// It was neither used nor revoked.
    pub unused: bool,
}

/// What an approval must be for.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalSubject<'a> {
    /// The session of the action.
    pub session_id: Option<&'a SessionId>,
    /// Its kind.
    pub action_kind: &'a ActionKind,
    /// The action.
    pub action_hash: &'a ActionHash,
}

impl ProvidedApproval {
    /// The facts that go into the context.
    #[must_use]
    pub fn facts(&self, subject: ApprovalSubject<'_>, now: Timestamp) -> ApprovalFacts {
        match self {
            Self::NotProvided | Self::Unknown => ApprovalFacts::default(),
            Self::Record(record) => ApprovalFacts {
                present: true,
                valid: record.is_for(subject)
                    && record.signatures_valid
                    && !matches!(record.state, ApprovalState::Pending | ApprovalState::Denied),
                unexpired: record.state != ApprovalState::Expired && now <= record.expires_at,
                unused: !matches!(record.state, ApprovalState::Consumed | ApprovalState::Revoked),
            },
        }
    }

    /// Gate 4: why the approval that came cannot be used; nothing if it can, or if none came.
    ///
    /// The order is part of the contract: unknown, other session, hash, kind, signature, pending, denied or revoked,
    /// then consumed, then expired.
    #[must_use]
    pub fn refusal(&self, subject: ApprovalSubject<'_>, now: Timestamp) -> Option<Code> {
        let record = match self {
            Self::NotProvided => return None,
            Self::Unknown => return Some(codes::URM_APPROVAL_INVALID),
            Self::Record(record) => record,
        };
        if !record.is_for(subject) || !record.signatures_valid {
            return Some(codes::URM_APPROVAL_INVALID);
        }
        match record.state {
            ApprovalState::Pending | ApprovalState::Denied | ApprovalState::Revoked => {
                Some(codes::URM_APPROVAL_INVALID)
            }
            ApprovalState::Consumed => Some(codes::URM_APPROVAL_CONSUMED),
            ApprovalState::Expired => Some(codes::URM_APPROVAL_EXPIRED),
            ApprovalState::Granted => (now > record.expires_at).then_some(codes::URM_APPROVAL_EXPIRED),
        }
    }

    /// Whether the approval was given by as many people, and as many sorts of them, as are needed now.
    #[must_use]
    pub fn covers(&self, need: &QuorumRule) -> bool {
        match self {
            Self::NotProvided | Self::Unknown => false,
            Self::Record(record) => record.quorum.as_ref().is_none_or(|quorum| quorum.covers(need)),
        }
    }
}

impl ApprovalRecord {
    fn is_for(&self, subject: ApprovalSubject<'_>) -> bool {
        subject.session_id == Some(&self.session_id)
            && subject.action_hash == &self.action_hash
            && subject.action_kind == &self.action_kind
    }
}
