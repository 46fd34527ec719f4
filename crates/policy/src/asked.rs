//! Requests as wires: how the facts of a context hang together when the one builder makes it, and models back as requests.

use alloc::{collections::BTreeMap, string::ToString as _, vec::Vec};

use countersign_canon::{Text, Timestamp};

use crate::{
    Algebra as _, ApprovalId, ApprovalRecord, ApprovalState, Atom, Capability, Circuit, Context, EvidenceRef,
    InForce, Lit, Model, Probe, ProbeFact, ProbeFacts, ProbeSchema, ProvidedApproval, QuorumRule, Request,
    Rule, SessionFacts, SessionId, steps::Unseen,
};

/// What a request has beyond its context, as wires.
#[derive(Debug)]
pub struct AskedWires {
    /// What the context does not say about the approval.
    pub unseen: Unseen<Lit>,
    probe: BTreeMap<ProbeFact, Lit>,
    /// Everything that any rule or kind of action asks of an approval.
    most: QuorumRule,
}

/// When the requests that models describe are decided: late enough for an approval to have expired before.
const NOW_S: i64 = 86_400;

impl Circuit {
    /// Wires for what a request has beyond its context.
    pub fn asked_wires(&mut self) -> AskedWires {
        let unseen = Unseen {
            approval_is_unknown: self.wire(),
            approval_is_revoked: self.wire(),
            approval_is_short: self.wire(),
            capability_is_disabled: self.wire(),
        };
        AskedWires { unseen, probe: BTreeMap::new(), most: QuorumRule::anybody() }
    }

    /// Says what holds in every context that [`build_context`](crate::build_context) makes. Call it when all atoms are there.
    pub fn demand_built(&mut self, in_force: InForce<'_>, asked: &mut AskedWires) {
        for capability in self.capabilities() {
            let granted = self.granted(in_force, &capability);
            let is = self.leaf(&Atom::CapabilityAllowed(capability.clone()));
            self.demand_same(is, granted);
            let found = self.found(in_force, &capability, asked);
            let is = self.leaf(&Atom::CapabilityPresent(capability));
            self.demand_same(is, found);
        }
        let [present, valid, unexpired, unused] =
            Atom::APPROVAL_AVAILABLE.each_ref().map(|atom| self.leaf(atom));
        let Unseen { approval_is_unknown, approval_is_revoked, approval_is_short, capability_is_disabled: _ } =
            asked.unseen;
        for fact in [valid, unexpired, unused, approval_is_revoked, approval_is_short] {
            self.demand(&[fact.negated(), present]);
        }
        self.demand(&[approval_is_unknown.negated(), present.negated()]);
        self.demand(&[approval_is_revoked.negated(), unused.negated()]);
        let by_rule = in_force.policy.rules().iter().filter_map(Rule::quorum);
        let by_lattice = in_force.lattice.actions().map(|(_, entry)| QuorumRule::of_entry(entry));
        asked.most = by_rule.chain(by_lattice).fold(QuorumRule::anybody(), |most, quorum| most.and(&quorum));
    }

    fn capabilities(&self) -> Vec<Capability> {
        let mut named: Vec<Capability> = self.atoms().filter_map(capability_of).cloned().collect();
        named.sort();
        named.dedup();
        named
    }

    fn granted(&mut self, in_force: InForce<'_>, capability: &Capability) -> Lit {
        let roles = in_force.allow.roles().filter(|(_, granted)| granted.0.contains(capability));
        let nobody = self.constant(false);
        roles.fold(nobody, |any, (role, _)| {
            let is = self.leaf(&Atom::RoleIs(role.clone()));
            self.or(any, is)
        })
    }

    fn found(&mut self, in_force: InForce<'_>, capability: &Capability, asked: &mut AskedWires) -> Lit {
        match in_force.lattice.probe(capability) {
            None => self.constant(false),
            Some(Probe::None) => self.constant(true),
            Some(Probe::All(facts)) => {
                let all = self.constant(true);
                facts.iter().fold(all, |all, fact| {
                    let wire = *asked.probe.entry(fact.clone()).or_insert_with(|| self.wire());
                    self.and(all, wire)
                })
            }
        }
    }

    fn demand_same(&mut self, left: Lit, right: Lit) {
        self.demand(&[left.negated(), right]);
        self.demand(&[left, right.negated()]);
    }

    /// The request that a model describes, and when it is made; nothing if a name of ours were not one.
    #[must_use]
    pub fn request(&self, asked: &AskedWires, model: &Model) -> Option<(Request, Timestamp)> {
        let context = self.context(model);
        let session_id = SessionId::parse("session").ok()?;
        let approval = if model.holds(asked.unseen.approval_is_unknown) {
            ProvidedApproval::Unknown
        } else if context.approval_present {
            let is_revoked = model.holds(asked.unseen.approval_is_revoked);
            let is_short = model.holds(asked.unseen.approval_is_short);
            let quorum = if is_short { QuorumRule::anybody() } else { asked.most.clone() };
            let record = record(&context, &session_id, is_revoked)?;
            ProvidedApproval::Record(ApprovalRecord { quorum: Some(quorum), ..record })
        } else {
            ProvidedApproval::NotProvided
        };
        let evidence = context.evidence_kinds.0.iter().map(|kind| {
            let reference = Text::new("witness".to_string())?;
            Some(EvidenceRef { kind: *kind, reference, note: None })
        });
        let found = asked.probe.iter().filter(|(_, wire)| model.holds(**wire)).map(|(fact, _)| fact.clone());
        let disabled = model.holds(asked.unseen.capability_is_disabled).then_some(&context.action_kind);
        let disabled = disabled.map(ProbeFacts::disabled).transpose().ok()?;
        let request = Request {
            action_kind: context.action_kind.clone(),
            action_hash: context.action_hash,
            session: SessionFacts {
                session_id: Some(session_id),
                role: context.role.0.clone(),
                mode: context.mode,
                active: context.session_active,
            },
            probe: ProbeFacts {
                schema: ProbeSchema::V1,
                client: Text::new("witness".to_string())?,
                facts: found.chain(disabled).collect(),
            },
            approval,
            evidence_refs: evidence.collect::<Option<_>>()?,
            warrant: context.warrant.0,
        };
        Some((request, Timestamp::from_unix(NOW_S)?))
    }
}

fn capability_of(atom: &Atom) -> Option<&Capability> {
    match atom {
        Atom::CapabilityPresent(capability) | Atom::CapabilityAllowed(capability) => Some(capability),
        Atom::RoleIs(_)
        | Atom::ModeIs(_)
        | Atom::SessionActive
        | Atom::ActionKindIs(_)
        | Atom::ActionHashMatches(_)
        | Atom::ApprovalPresent
        | Atom::ApprovalValid
        | Atom::ApprovalUnexpired
        | Atom::ApprovalUnused
        | Atom::HasEvidenceKind(_)
        | Atom::WarrantIs(_) => None,
    }
}

/// An approval with the facts of this context.
fn record(context: &Context, session_id: &SessionId, is_revoked: bool) -> Option<ApprovalRecord> {
    let state = match (context.approval_unused, is_revoked) {
        (true, _) => ApprovalState::Granted,
        (false, true) => ApprovalState::Revoked,
        (false, false) => ApprovalState::Consumed,
    };
    Some(ApprovalRecord {
        approval_id: ApprovalId::parse("approval").ok()?,
        session_id: session_id.clone(),
        action_kind: context.action_kind.clone(),
        action_hash: context.action_hash,
        state,
        signatures_valid: context.approval_valid,
        expires_at: Timestamp::from_unix(if context.approval_unexpired { NOW_S } else { 0 })?,
        quorum: None,
    })
}
