//! Decisions as they are kept, and the check that they would be made again.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::{Json, Object, Reader, Text, Timestamp, Value, Wire as _, Within, record};
use countersign_policy::{
    ActionHash, AllowHash, AllowPolicy, ApprovalId, ApprovalRecord, Authorization, Context, EvidenceRef,
    InForce, Lattice, LatticeHash, Policy, PolicyHash, ProbeFacts, ProvidedApproval, Request, SessionFacts,
    SessionId, TraceVersion, authorize,
    shipped::{Bundle, LoadedBundle},
};

use crate::{DecisionId, PermitId, Principal, code::codes};

/// The number of a policy version, from 1.
pub type VersionNumber = Within<1, 9_007_199_254_740_991>;

record! {
    /// A policy version: the three documents that come into force together.
    pub struct PolicyVersion {
        /// Its number.
        version: VersionNumber,
        /// The hash of the rules.
        policy_hash: PolicyHash,
        /// The hash of the lattice.
        lattice_hash: LatticeHash,
        /// The hash of the allow policy.
        allow_hash: AllowHash,
        /// The rules.
        policy: Object<'static>,
        /// The lattice.
        lattice: Object<'static>,
        /// The allow policy.
        allow: Object<'static>,
        /// When it was first activated.
        created_at: Timestamp,
        /// By whom.
        created_by: Principal,
    }
}

record! {
    /// That a policy version came into force.
    pub struct Activation {
        /// The how manieth activation this is.
        number: VersionNumber,
        /// What came into force.
        version: VersionNumber,
        /// When.
        activated_at: Timestamp,
        /// By whom.
        activated_by: Principal,
    }
}

/// The documents of a policy version, loaded.
#[derive(Debug)]
pub struct LoadedVersion {
    /// Its number.
    pub version: VersionNumber,
    /// The rules.
    pub policy: Policy,
    /// The lattice.
    pub lattice: Lattice,
    /// The allow policy.
    pub allow: AllowPolicy,
}

impl LoadedVersion {
    /// Loads the documents of a version and checks that they have the hashes it names.
    ///
    /// # Errors
    ///
    /// Fails with what is wrong, in words.
    pub fn load(version: &PolicyVersion) -> Result<Self, String> {
        let text = |document: &Object<'static>| Json::from(Value::Object(document.clone())).to_canonical();
        let documents = [text(&version.policy), text(&version.lattice), text(&version.allow)];
        let loaded = Self::from_documents(version.version, documents.each_ref().map(String::as_bytes))?;
        let is_same = *loaded.policy.hash() == version.policy_hash
            && *loaded.lattice.hash() == version.lattice_hash
            && *loaded.allow.hash() == version.allow_hash;
        if !is_same {
            return Err("the documents do not have the hashes of their version".to_string());
        }
        Ok(loaded)
    }

    /// Loads the rules, the lattice and the allow policy of a version from their bytes; whether they are what the version
    /// names is for the caller to check. Rules that ship come without their examples.
    ///
    /// # Errors
    ///
    /// Fails with what is wrong, in words.
    pub fn from_documents(version: VersionNumber, documents: [&[u8]; 3]) -> Result<Self, String> {
        let first = |issues: &[countersign_canon::Issue]| {
            issues.first().map_or_else(String::new, |issue| format!("{}: {issue}", issue.pointer))
        };
        if let Some(shipped) = Bundle::of(documents) {
            let LoadedBundle { policy, lattice, allow } = shipped.load().map_err(|issues| first(&issues))?;
            return Ok(Self { version, policy, lattice, allow });
        }
        let [policy, lattice, allow] = documents;
        let policy = Policy::load_activated(policy).map_err(|issues| first(&issues))?;
        let lattice = Lattice::load(lattice).map_err(|issues| first(&issues))?;
        let allow = AllowPolicy::load(allow, &lattice).map_err(|issues| first(&issues))?;
        Ok(Self { version, policy, lattice, allow })
    }

    /// The hashes of its documents: rules, lattice and allow policy.
    #[must_use]
    pub fn hashes(&self) -> (PolicyHash, LatticeHash, AllowHash) {
        (*self.policy.hash(), *self.lattice.hash(), *self.allow.hash())
    }

    /// The documents as the kernel takes them.
    #[must_use]
    pub const fn in_force(&self) -> InForce<'_> {
        InForce { policy: &self.policy, lattice: &self.lattice, allow: &self.allow }
    }
}

record! {
    /// A decision with everything that it was made from (K5.3).
    pub struct DecisionRecord {
        /// Its id.
        decision_id: DecisionId,
        /// Who asked.
        principal: Principal,
        /// Where the request came in.
        endpoint: Text<1, 128>,
        /// The session or run, if there was one.
        session_id: Option<SessionId>,
        /// Whether the action was to begin at once.
        proceed: bool,
        /// Under which policy version.
        policy_version: VersionNumber,
        /// Under which rules.
        policy_hash: PolicyHash,
        /// The version of the trace.
        trace_version: TraceVersion,
        /// Whether an approval came with the action.
        approval_provided: bool,
        /// That approval as it was when it was checked, if there is one under its id.
        approval: Option<ApprovalRecord>,
        /// The facts.
        context: Context,
        /// What was decided, and why.
        trace: Object<'static>,
        /// The proofs that stand beside the policy: in the trace's evidence, but no fact that was decided from (K4.2).
        attached_refs: Option<Vec<EvidenceRef>>,
        /// The permit, if the action was allowed to begin.
        permit_id: Option<PermitId>,
        /// The request for an approval that it made or found, if it needs one.
        pending_approval_id: Option<ApprovalId>,
    }
}

impl DecisionRecord {
    /// Decides again from what was stored; what differs, if anything does.
    ///
    /// # Errors
    ///
    /// Fails if the context or the trace would come out with other bytes.
    pub fn redecide(&self, version: &LoadedVersion, probe: &ProbeFacts) -> Result<(), String> {
        let request = Request {
            action_kind: self.context.action_kind.clone(),
            action_hash: self.context.action_hash,
            session: SessionFacts {
                session_id: self.session_id.clone(),
                role: self.context.role.0.clone(),
                mode: self.context.mode,
                active: self.context.session_active,
            },
            probe: probe.clone(),
            approval: self.provided_approval(),
            evidence_refs: self.evidence_refs()?,
            warrant: self.context.warrant.0,
        };
        let Authorization { mut trace, context, approval_need: _ } =
            authorize(version.in_force(), &request, self.context.evaluation_ts);
        let _attached = trace.attach(self.attached_refs.clone().unwrap_or_default());
        if context.to_canonical() != self.context.to_canonical() {
            return Err("the facts do not give the context that was stored".to_string());
        }
        if trace.to_canonical() != Json::from(Value::Object(self.trace.clone())).to_canonical() {
            return Err("the context does not give the trace that was stored".to_string());
        }
        Ok(())
    }

    fn provided_approval(&self) -> ProvidedApproval {
        match (&self.approval, self.approval_provided) {
            (Some(record), _) => ProvidedApproval::Record(record.clone()),
            (None, true) => ProvidedApproval::Unknown,
            (None, false) => ProvidedApproval::NotProvided,
        }
    }

    /// The evidence that came with the action.
    fn evidence_refs(&self) -> Result<Vec<EvidenceRef>, String> {
        let refs = self.trace.get("evidence_refs").ok_or("the trace has no evidence_refs")?;
        let refs: Vec<EvidenceRef> = Reader::read_json(refs, codes::URM_EVENT_INVALID)
            .map_err(|_| "the trace's evidence_refs are not evidence".to_string())?;
        let is_given = |evidence: &EvidenceRef| {
            !self.attached_refs.as_ref().is_some_and(|attached| attached.contains(evidence))
        };
        Ok(refs.into_iter().filter(is_given).collect())
    }

    /// The hash that the event of the decision carries, so that the log covers every byte of this record.
    #[must_use]
    pub fn hash(&self) -> countersign_canon::Sha256 {
        countersign_canon::Sha256::of(self.to_canonical().as_bytes())
    }
}

record! {
    /// A permit as it is shown.
    pub struct PermitDocument {
        /// Its id.
        permit_id: PermitId,
        /// The action that may begin, and no other.
        action_hash: ActionHash,
        /// Until when.
        expires_at: Timestamp,
    }
}

record! {
    /// A request that waits for people.
    pub struct PendingApproval {
        /// Its id.
        approval_id: ApprovalId,
        /// The command with which a person grants it.
        command: String,
    }
}

record! {
    /// The answer to a request for a decision.
    pub struct Decided {
        /// The decision.
        decision_id: DecisionId,
        /// Why it came out so, in one sentence.
        reason: String,
        /// What was decided, and why.
        trace: Object<'static>,
        /// The permit, if the action may begin now.
        permit: Option<PermitDocument>,
        /// What an approval was asked for with, if one is needed.
        pending_approval: Option<PendingApproval>,
    }
}
