//! Approvals: the request, the statements that people sign, and what the kernel is told about them.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{List, Text, Timestamp, Wire as _, Within, choice, record};
use countersign_policy::{
    ActionHash, ActionKind, ApprovalId, ApprovalRecord, ApprovalState, NameSet, QuorumRule, Role, SessionId,
};

use crate::{
    ApprovalStep, DecisionId, GRANT_TTL_S_MAX, KeyId, PermitId, Principal, PublicKey, Quorum, SecretKey,
    Signature, StepRefusal, code::codes,
};

/// LIMIT: how far the clock of whoever signs may be from the clock of the service.
pub const CLOCK_SKEW_S_MAX: i64 = 300;

/// For how many seconds a granted approval can be used; out of range is refused, never clamped.
pub type GrantTtl = Within<1, GRANT_TTL_S_MAX>;

/// Why somebody asked, granted or refused, in words.
pub type Reason = Text<0, 2000>;

choice! {
    /// The version of the statement.
    pub enum StatementSchema {
        /// The only one so far.
        V1 = "countersign.approval@1",
    }
}

record! {
    /// What a person signs: exactly this action, in exactly this session, for exactly this long.
    pub struct ApprovalStatement {
        /// The version of the statement.
        schema: StatementSchema,
        /// The approval.
        approval_id: ApprovalId,
        /// The session that may use it.
        session_id: SessionId,
        /// What kind of action.
        action_kind: ActionKind,
        /// Which action.
        action_hash: ActionHash,
        /// Who says yes.
        approver: Principal,
        /// When.
        granted_at: Timestamp,
        /// Until when.
        expires_at: Timestamp,
        /// Why.
        reason: Reason,
    }
}

impl ApprovalStatement {
    /// Signs the canonical bytes of the statement.
    #[must_use]
    pub fn sign(&self, key: &SecretKey) -> Signature {
        key.sign(self.to_canonical().as_bytes())
    }

    /// Whether this key signed the statement.
    #[must_use]
    pub fn is_signed_by(&self, key: &PublicKey, signature: &Signature) -> bool {
        key.verifies(self.to_canonical().as_bytes(), signature)
    }
}

record! {
    /// One person's yes.
    pub struct ApprovalSignature {
        /// Who.
        approver: Principal,
        /// With which key.
        key_id: KeyId,
        /// Over the statement.
        signature: Signature,
        /// When: the statement's `granted_at`.
        signed_at: Timestamp,
    }
}

record! {
    /// An approval, from the request to its end.
    pub struct Approval {
        /// Its id.
        approval_id: ApprovalId,
        /// The session that asked and may use it.
        session_id: SessionId,
        /// What kind of action.
        action_kind: ActionKind,
        /// Which action.
        action_hash: ActionHash,
        /// Who asked, and so cannot grant.
        requester: Principal,
        /// The decision that asked; approvals from before it was noted have none.
        decision_id: Option<DecisionId>,
        /// How many people must say yes.
        quorum: QuorumRule,
        /// Where it stands.
        state: ApprovalState,
        /// When it was asked for.
        created_at: Timestamp,
        /// Until when it can be granted, or used.
        expires_at: Timestamp,
        /// For how long it is granted; the first signature says.
        ttl_s: Option<GrantTtl>,
        /// Why; the first signature says.
        reason: Option<Reason>,
        /// Who said yes so far.
        signatures: List<ApprovalSignature, 0, 16>,
        /// When a person denied or revoked it, or it was consumed or found expired.
        ended_at: Option<Timestamp>,
        /// Who denied or revoked it.
        ended_by: Option<Principal>,
        /// The permit that used it up.
        consumed_by: Option<PermitId>,
    }
}

record! {
    /// A public key that counts as the signature of a person.
    pub struct ApproverKey {
        /// What it is called by.
        key_id: KeyId,
        /// Whose it is.
        approver: Principal,
        /// The key.
        public_key: PublicKey,
        /// Which kinds of review the person may do.
        reviews: NameSet<Role>,
        /// When it was registered.
        created_at: Timestamp,
        /// When it stopped counting.
        revoked_at: Option<Timestamp>,
    }
}

/// A person's answer as it comes in.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    /// Who answers: from the credential, never from a body.
    pub approver: Principal,
    /// The key that signed.
    pub key_id: KeyId,
    /// The signature over the statement.
    pub signature: Signature,
    /// The statement's `granted_at`.
    pub granted_at: Timestamp,
    /// For how long; the statement's `expires_at` is this long after `granted_at`.
    pub ttl_s: GrantTtl,
    /// The statement's reason.
    pub reason: Reason,
}

/// Why an answer to a request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GrantRefusal {
    /// The approval does not stand where this is possible.
    #[error(transparent)]
    Step(#[from] StepRefusal),
    /// Nobody grants what they asked for.
    #[error("the requester cannot grant its own request")]
    OwnRequest,
    /// One person, one signature.
    #[error("this approver has signed already")]
    SignedAlready,
    /// The key is unknown, revoked, or somebody else's.
    #[error("the key is not registered for this approver")]
    Key,
    /// The signature is not of this statement by this key.
    #[error("the signature does not verify")]
    Signature,
    /// The statement's time is not now.
    #[error("the statement was not signed within {CLOCK_SKEW_S_MAX} s of now")]
    Clock,
    /// The first signature said something else.
    #[error("the first signature gave another reason or duration")]
    Differs,
    /// There is no room for another signature.
    #[error("the approval has 16 signatures already")]
    Full,
}

impl GrantRefusal {
    /// The frozen machine code of this refusal.
    #[must_use]
    pub const fn code(&self) -> countersign_canon::Code {
        match self {
            Self::Step(_) | Self::SignedAlready | Self::Full => codes::URM_APPROVAL_STATE_CONFLICT,
            Self::OwnRequest => codes::URM_APPROVAL_OWN_REQUEST,
            Self::Key | Self::Signature => codes::URM_APPROVAL_SIGNATURE_INVALID,
            Self::Clock => codes::URM_APPROVAL_CLOCK,
            Self::Differs => codes::URM_APPROVAL_DIFFERS,
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// The id of the new approval.
    pub approval_id: ApprovalId,
    /// The session that asks.
    pub session_id: SessionId,
    /// What kind of action.
    pub action_kind: ActionKind,
    /// Which action.
    pub action_hash: ActionHash,
    /// Who asks.
    pub requester: Principal,
    /// The decision that asks.
    pub decision_id: DecisionId,
    /// How many people must say yes.
    pub quorum: QuorumRule,
}

impl Approval {
    /// Asks for an approval.
    ///
    /// # Errors
    ///
    /// Fails if the year gets five digits.
    pub fn request(request: ApprovalRequest, now: Timestamp) -> Result<Self, StepRefusal> {
        let ApprovalRequest {
            approval_id,
            session_id,
            action_kind,
            action_hash,
            requester,
            decision_id,
            quorum,
        } = request;
        let ApprovalStep { state, expires_at } = ApprovalStep::request(now)?;
        Ok(Self {
            approval_id,
            session_id,
            action_kind,
            action_hash,
            requester,
            decision_id: Some(decision_id),
            quorum,
            state,
            created_at: now,
            expires_at,
            ttl_s: None,
            reason: None,
            signatures: List::default(),
            ended_at: None,
            ended_by: None,
            consumed_by: None,
        })
    }

    /// Where it stands, for the protocol.
    #[must_use]
    pub const fn step(&self) -> ApprovalStep {
        ApprovalStep { state: self.state, expires_at: self.expires_at }
    }

    fn at(&self, step: ApprovalStep) -> Self {
        Self { state: step.state, expires_at: step.expires_at, ..self.clone() }
    }

    /// The statement that this approver signs; nothing if its end is beyond the year 9999.
    #[must_use]
    pub fn statement(
        &self,
        approver: &Principal,
        granted_at: Timestamp,
        ttl_s: GrantTtl,
        reason: &Reason,
    ) -> Option<ApprovalStatement> {
        Some(ApprovalStatement {
            schema: StatementSchema::V1,
            approval_id: self.approval_id.clone(),
            session_id: self.session_id.clone(),
            action_kind: self.action_kind.clone(),
            action_hash: self.action_hash,
            approver: approver.clone(),
            granted_at,
            expires_at: granted_at.plus_seconds(ttl_s.get())?,
            reason: reason.clone(),
        })
    }

    /// Takes one person's yes; `keys` are those registered.
    ///
    /// # Errors
    ///
    /// Fails if the approval is not pending, if the approver asked for it or has signed already, and if key, signature,
    /// time, duration or reason are not right.
    pub fn grant(&self, grant: &Grant, keys: &[ApproverKey], now: Timestamp) -> Result<Self, GrantRefusal> {
        // Where it stands comes first: what is over cannot be signed, whoever signs and however.
        self.step().sign(Quorum::Open, self.expires_at, now)?;
        if grant.approver == self.requester {
            return Err(GrantRefusal::OwnRequest);
        }
        if self.signatures.iter().any(|signature| signature.approver == grant.approver) {
            return Err(GrantRefusal::SignedAlready);
        }
        if now.as_unix().abs_diff(grant.granted_at.as_unix()) > CLOCK_SKEW_S_MAX.unsigned_abs() {
            return Err(GrantRefusal::Clock);
        }
        if self.ttl_s.is_some_and(|ttl_s| ttl_s != grant.ttl_s)
            || self.reason.as_ref().is_some_and(|reason| *reason != grant.reason)
        {
            return Err(GrantRefusal::Differs);
        }
        let mut signatures = self.signatures.to_vec();
        signatures.push(ApprovalSignature {
            approver: grant.approver.clone(),
            key_id: grant.key_id.clone(),
            signature: grant.signature,
            signed_at: grant.granted_at,
        });
        let signed = Self {
            ttl_s: Some(grant.ttl_s),
            reason: Some(grant.reason.clone()),
            signatures: List::new(signatures).ok_or(GrantRefusal::Full)?,
            ..self.clone()
        };
        let last = signed.signatures.last().ok_or(GrantRefusal::Full)?;
        signed.check_signature(last, keys)?;
        let until = signed.signed_until().ok_or(StepRefusal::Time)?;
        let step = self.step().sign(signed.quorum_of(keys), until, now)?;
        Ok(signed.at(step))
    }

    /// Takes one person's no.
    ///
    /// # Errors
    ///
    /// Fails unless it is pending.
    pub fn deny(&self, by: &Principal, reason: &Reason, now: Timestamp) -> Result<Self, StepRefusal> {
        let denied = self.at(self.step().deny(now)?);
        Ok(Self { reason: Some(reason.clone()), ended_at: Some(now), ended_by: Some(by.clone()), ..denied })
    }

    /// Takes it back before it is used.
    ///
    /// # Errors
    ///
    /// Fails unless it is granted.
    pub fn revoke(&self, by: &Principal, now: Timestamp) -> Result<Self, StepRefusal> {
        let revoked = self.at(self.step().revoke(now)?);
        Ok(Self { ended_at: Some(now), ended_by: Some(by.clone()), ..revoked })
    }

    /// Notes that its time has run out, if it has.
    #[must_use]
    pub fn expire(&self, now: Timestamp) -> Option<Self> {
        let expired = self.at(self.step().expire(now)?);
        Some(Self { ended_at: Some(now), ..expired })
    }

    /// The approval after [`begin`](crate::begin) used it up for this permit.
    #[must_use]
    pub fn consumed(&self, step: ApprovalStep, permit: &PermitId, now: Timestamp) -> Self {
        Self { ended_at: Some(now), consumed_by: Some(permit.clone()), ..self.at(step) }
    }

    /// What the kernel is told about it: the check before use (K2.1 step 4) reads nothing else.
    ///
    /// Signatures are checked again each time, with the keys that are registered now.
    #[must_use]
    pub fn record(&self, keys: &[ApproverKey]) -> ApprovalRecord {
        let is_signed = self.signatures.iter().all(|signature| self.check_signature(signature, keys).is_ok())
            && self.quorum_of(keys) == Quorum::Reached
            && self.signed_until() == Some(self.expires_at);
        ApprovalRecord {
            approval_id: self.approval_id.clone(),
            session_id: self.session_id.clone(),
            action_kind: self.action_kind.clone(),
            action_hash: self.action_hash,
            state: self.state,
            signatures_valid: is_signed,
            expires_at: self.expires_at,
            quorum: Some(self.quorum.clone()),
        }
    }

    /// Whether the signature is by a registered key of its approver over this approval's statement.
    fn check_signature(
        &self,
        signature: &ApprovalSignature,
        keys: &[ApproverKey],
    ) -> Result<(), GrantRefusal> {
        let key = find_key(signature, keys).ok_or(GrantRefusal::Key)?;
        let statement = self.ttl_s.zip(self.reason.as_ref()).and_then(|(ttl_s, reason)| {
            self.statement(&signature.approver, signature.signed_at, ttl_s, reason)
        });
        let is_signed = statement.is_some_and(|it| it.is_signed_by(&key.public_key, &signature.signature));
        if is_signed { Ok(()) } else { Err(GrantRefusal::Signature) }
    }

    /// Until when the last signature lets it be used.
    fn signed_until(&self) -> Option<Timestamp> {
        self.signatures.last()?.signed_at.plus_seconds(self.ttl_s?.get())
    }

    /// Whether the signatures are enough, by number and by kind.
    fn quorum_of(&self, keys: &[ApproverKey]) -> Quorum {
        let signed: Vec<&ApproverKey> =
            self.signatures.iter().filter_map(|signature| find_key(signature, keys)).collect();
        let is_enough =
            usize::try_from(self.quorum.approvals.get()).is_ok_and(|needed| signed.len() >= needed);
        let has_kinds =
            self.quorum.reviewers.0.iter().all(|kind| signed.iter().any(|key| key.reviews.0.contains(kind)));
        if is_enough && has_kinds { Quorum::Reached } else { Quorum::Open }
    }

    /// The command with which a person grants it.
    #[must_use]
    pub fn command(&self) -> String {
        format!("countersign approve {}", self.approval_id)
    }
}

fn find_key<'k>(signature: &ApprovalSignature, keys: &'k [ApproverKey]) -> Option<&'k ApproverKey> {
    keys.iter().find(|key| {
        key.key_id == signature.key_id && key.approver == signature.approver && key.revoked_at.is_none()
    })
}

#[cfg(test)]
mod tests;
