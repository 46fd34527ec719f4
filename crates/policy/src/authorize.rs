//! The one way to a decision (K2.1): facts in, seven steps in a fixed order, a trace out.

use alloc::vec::Vec;

use countersign_canon::{Code, Nullable, Timestamp};

use crate::{
    ActionEntry, ActionHash, ActionKind, AllowPolicy, ApprovalFacts, ApprovalSubject, Bindings, Context,
    Decision, Evaluation, EvidenceRef, Gate, Lattice, Matched, Mode, Policy, ProbeFacts, ProvidedApproval,
    QuorumRule, Role, SessionId, Trace, Warrant, codes, trace,
};

/// The documents that are in force together.
#[derive(Debug, Clone, Copy)]
pub struct InForce<'p> {
    /// The rules.
    pub policy: &'p Policy,
    /// The capabilities and what each kind of action needs.
    pub lattice: &'p Lattice,
    /// What each role is granted.
    pub allow: &'p AllowPolicy,
}

/// What is known about the session, or the run, that acts.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionFacts {
    /// Which one; nothing if there is none.
    pub session_id: Option<SessionId>,
    /// Its role; nothing if nobody is known.
    pub role: Option<Role>,
    /// Its mode.
    pub mode: Mode,
    /// Whether it is live.
    pub active: bool,
}

impl SessionFacts {
    /// No session and no run: nobody, who may only read.
    #[must_use]
    pub const fn nobody() -> Self {
        Self { session_id: None, role: None, mode: Mode::ReadOnly, active: false }
    }
}

/// What is to be decided, and everything that is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The kind of action.
    pub action_kind: ActionKind,
    /// The action, by the shared recipe.
    pub action_hash: ActionHash,
    /// Who acts.
    pub session: SessionFacts,
    /// What the probe of the client found.
    pub probe: ProbeFacts,
    /// The approval that came with the action.
    pub approval: ProvidedApproval,
    /// The evidence that came with the action.
    pub evidence_refs: Vec<EvidenceRef>,
    /// How well founded the action's claim is.
    pub warrant: Option<Warrant>,
}

/// A decision with everything that it was made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Authorization<'p> {
    /// The trace.
    pub trace: Trace<'p>,
    /// The context, as it was hashed.
    pub context: Context,
    /// How the approval must be given, if one is required.
    pub approval_need: Option<QuorumRule>,
}

impl Authorization<'_> {
    /// Whether the action may proceed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.trace.evaluation.decision == Decision::Allow
    }
}

/// Builds the context: the only way from facts to a context (K1.7).
#[must_use]
pub fn build_context(in_force: InForce<'_>, request: &Request, now: Timestamp) -> Context {
    let ApprovalFacts { present, valid, unexpired, unused } = request.approval.facts(subject(request), now);
    Context {
        role: Nullable(request.session.role.clone()),
        mode: request.session.mode,
        action_kind: request.action_kind.clone(),
        action_hash: request.action_hash,
        session_active: request.session.active,
        capabilities_present: in_force.lattice.present(&request.probe),
        capabilities_allowed: in_force.allow.granted(request.session.role.as_ref()),
        evidence_kinds: trace::kinds_of(&request.evidence_refs),
        approval_present: present,
        approval_valid: valid,
        approval_unexpired: unexpired,
        approval_unused: unused,
        warrant: Nullable(request.warrant),
        evaluation_ts: now,
    }
}

/// Decides an action: capability, grant, mode, approval precheck, rules, approval, proceed.
///
/// The first four are hard gates: the rules are not even asked once one of them has refused, so that nothing in a
/// policy can turn their denial into an allow. CLAUSE: K2.1.
#[must_use]
pub fn authorize<'p>(in_force: InForce<'p>, request: &Request, now: Timestamp) -> Authorization<'p> {
    let context = build_context(in_force, request, now);
    let entry = in_force.lattice.action(&context.action_kind);
    let required = entry.is_some_and(|entry| entry.requires_approval);
    let evaluation = match hard_gate(entry, &context, request, now) {
        Some((gate, code)) => Evaluation {
            decision: Decision::Deny,
            decision_code: code.as_str(),
            gate,
            required_approval: required,
            warrant_invalid: false,
            matched: Matched::none(in_force.policy),
        },
        None => in_force.policy.evaluate(&context, required),
    };
    let approval_need =
        evaluation.required_approval.then(|| approval_need(entry.filter(|_| required), &evaluation.matched));
    // Gate 6 once more: who had to agree when an approval was asked for may be fewer than have to now.
    let is_short = approval_need.as_ref().is_some_and(|need| !request.approval.covers(need));
    let evaluation = if is_short && evaluation.decision == Decision::Allow {
        Evaluation {
            decision: Decision::Deny,
            decision_code: codes::URM_APPROVAL_REQUIRED.as_str(),
            gate: Gate::ApprovalRequired,
            ..evaluation
        }
    } else {
        evaluation
    };
    let trace = Trace {
        evaluation,
        input_context_hash: context.hash(),
        evidence_refs: EvidenceRef::sorted(request.evidence_refs.clone()),
        bindings: Some(Bindings {
            lattice_hash: *in_force.lattice.hash(),
            allow_hash: *in_force.allow.hash(),
            probe_hash: request.probe.hash(),
        }),
    };
    Authorization { trace, context, approval_need }
}

fn subject(request: &Request) -> ApprovalSubject<'_> {
    ApprovalSubject {
        session_id: request.session.session_id.as_ref(),
        action_kind: &request.action_kind,
        action_hash: &request.action_hash,
    }
}

/// The first of the gates 1 to 4 that refuses. Gates 1 to 3 read the same facts that the rules do (K1.4).
fn hard_gate(
    entry: Option<&ActionEntry>,
    context: &Context,
    request: &Request,
    now: Timestamp,
) -> Option<(Gate, Code)> {
    let Some(entry) = entry.filter(|entry| context.capabilities_present.0.contains(&entry.capability)) else {
        let is_disabled = request.probe.found_disabled(&context.action_kind);
        let missing = codes::URM_CAPABILITY_MISSING;
        let code = if is_disabled { codes::URM_EXPERIMENTAL_DISABLED } else { missing };
        return Some((Gate::Capability, code));
    };
    if !context.capabilities_allowed.0.contains(&entry.capability) {
        return Some((Gate::Grant, codes::URM_CAPABILITY_NOT_ALLOWED));
    }
    if entry.requires_writes_allowed && context.mode != Mode::WritesAllowed {
        return Some((Gate::Mode, codes::URM_MODE_DENIED));
    }
    request.approval.refusal(subject(request), now).map(|code| (Gate::Approval, code))
}

/// The strictest of what the lattice and the matching rules ask for.
fn approval_need(entry: Option<&ActionEntry>, matched: &Matched<'_>) -> QuorumRule {
    let asked = entry.map(QuorumRule::of_entry).into_iter().chain(matched.quorum());
    asked.reduce(|strictest, asked| strictest.and(&asked)).unwrap_or_else(QuorumRule::anybody)
}
