//! What `authorize` means, over any algebra: the seven steps as cases (K2.1), so that they can be proved about.

use alloc::vec::Vec;

use crate::{
    ActionEntry, Algebra, Atom, Case, Decision, Gate, InForce, Lattice, Mode, QuorumRule, Verdict, codes,
    decide::asking, quorum, verdict,
};

/// What a request knows and a context does not say.
#[derive(Debug, Clone, Copy)]
pub struct Unseen<Bit> {
    /// An approval was named that nobody knows.
    pub approval_is_unknown: Bit,
    /// The approval that came was taken back.
    pub approval_is_revoked: Bit,
    /// The approval that came was asked of fewer people, or other sorts, than are needed now, where one is not enough.
    pub approval_is_short: Bit,
    /// The probe found the action's capability, switched off.
    pub capability_is_disabled: Bit,
}

/// The meaning of all seven steps. It is [`authorize`](crate::authorize) said once more, and tested to be the same.
pub fn steps<'p, A: Algebra<Atom>>(
    in_force: InForce<'p>,
    unseen: Unseen<A::Bit>,
    algebra: &mut A,
) -> Verdict<'p, A::Bit> {
    let InForce { policy, lattice, allow: _ } = in_force;
    let required = kind_with(Needs::Approval, lattice, algebra);
    let rules = verdict(policy.rules(), required, algebra);
    let mut free = algebra.constant(true);
    let mut cases = Vec::new();
    let missing = without(Atom::CapabilityPresent, lattice, algebra);
    let disabled = algebra.and(missing, unseen.capability_is_disabled);
    let refusals = [
        (Gate::Capability, codes::URM_EXPERIMENTAL_DISABLED, disabled),
        (Gate::Capability, codes::URM_CAPABILITY_MISSING, missing),
        (Gate::Grant, codes::URM_CAPABILITY_NOT_ALLOWED, without(Atom::CapabilityAllowed, lattice, algebra)),
        (Gate::Mode, codes::URM_MODE_DENIED, in_wrong_mode(lattice, algebra)),
    ];
    let unusable = unusable(unseen, algebra).map(|(code, when)| (Gate::Approval, code, when));
    for (gate, code, refuses) in refusals.into_iter().chain(unusable) {
        let when = algebra.and(free, refuses);
        cases.push(Case { decision: Decision::Deny, code: code.as_str(), gate, when });
        let passes = algebra.not(refuses);
        free = algebra.and(free, passes);
    }
    // Once a hard gate has refused, the rules are not asked: they match nothing and require nothing.
    let mut asked = |bit: A::Bit| algebra.and(free, bit);
    let matches: Vec<A::Bit> = rules.matches.into_iter().map(&mut asked).collect();
    let warrant_invalid = asked(rules.warrant_invalid);
    let by_rule = asked(rules.required_approval);
    let required_approval = algebra.or(required, by_rule);
    let mut asking = asking(policy.rules(), &matches);
    asking.extend(
        lattice.actions().filter(|(_, entry)| entry.requires_approval).map(|(kind, entry)| {
            (QuorumRule::of_entry(entry), algebra.leaf(&Atom::ActionKindIs(kind.clone())))
        }),
    );
    let needs = quorum::needs(&asking, algebra);
    let falsehood = algebra.constant(false);
    let needs_more = needs.values().fold(falsehood, |any, bit| algebra.or(any, *bit));
    let is_short = algebra.and(needs_more, unseen.approval_is_short);
    let is_enough = algebra.not(is_short);
    let mut short = falsehood;
    for case in rules.cases {
        let mut when = algebra.and(free, case.when);
        if case.gate == Gate::Proceed {
            let waits = algebra.and(when, is_short);
            short = algebra.or(short, waits);
            when = algebra.and(when, is_enough);
        }
        cases.push(Case { when, ..case });
    }
    let (code, gate) = (codes::URM_APPROVAL_REQUIRED.as_str(), Gate::ApprovalRequired);
    cases.push(Case { decision: Decision::Deny, code, gate, when: short });
    Verdict { cases, matches, required_approval, needs, warrant_invalid }
}

/// What the lattice says that a kind of action needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// The mode `writes_allowed`.
    Writes,
    /// A person's approval.
    Approval,
}

impl Needs {
    /// Whether the entry asks for it.
    #[must_use]
    pub const fn of(self, entry: &ActionEntry) -> bool {
        match self {
            Self::Writes => entry.requires_writes_allowed,
            Self::Approval => entry.requires_approval,
        }
    }
}

/// Whether the action is of a kind that needs this by the lattice.
pub fn kind_with<A: Algebra<Atom>>(needs: Needs, lattice: &Lattice, algebra: &mut A) -> A::Bit {
    let kinds = lattice.actions().filter(|(_, entry)| needs.of(entry));
    let falsehood = algebra.constant(false);
    kinds.fold(falsehood, |any, (kind, _)| {
        let bit = algebra.leaf(&Atom::ActionKindIs(kind.clone()));
        algebra.or(any, bit)
    })
}

/// Gates 1 and 2: the lattice does not know the kind, or its capability is missing.
fn without<A: Algebra<Atom>>(
    atom: impl Fn(crate::Capability) -> Atom,
    lattice: &Lattice,
    algebra: &mut A,
) -> A::Bit {
    let falsehood = algebra.constant(false);
    let has = lattice.actions().fold(falsehood, |any, (kind, entry)| {
        let kind = algebra.leaf(&Atom::ActionKindIs(kind.clone()));
        let capability = algebra.leaf(&atom(entry.capability.clone()));
        let both = algebra.and(kind, capability);
        algebra.or(any, both)
    });
    algebra.not(has)
}

/// Gate 3.
fn in_wrong_mode<A: Algebra<Atom>>(lattice: &Lattice, algebra: &mut A) -> A::Bit {
    let writes = kind_with(Needs::Writes, lattice, algebra);
    let may = algebra.leaf(&Atom::ModeIs(Mode::WritesAllowed));
    let may_not = algebra.not(may);
    algebra.and(writes, may_not)
}

/// Gate 4: the ways in which an approval that came cannot be used, in the order in which they are found.
fn unusable<A: Algebra<Atom>>(
    unseen: Unseen<A::Bit>,
    algebra: &mut A,
) -> [(countersign_canon::Code, A::Bit); 3] {
    let [present, valid, unexpired, unused] =
        Atom::APPROVAL_AVAILABLE.each_ref().map(|atom| algebra.leaf(atom));
    let [not_valid, not_unexpired, not_unused] = [valid, unexpired, unused].map(|bit| algebra.not(bit));
    let bad = algebra.or(not_valid, unseen.approval_is_revoked);
    let bad = algebra.and(present, bad);
    let bad = algebra.or(unseen.approval_is_unknown, bad);
    let used = algebra.and(present, not_unused);
    let late = algebra.and(present, not_unexpired);
    [
        (codes::URM_APPROVAL_INVALID, bad),
        (codes::URM_APPROVAL_CONSUMED, used),
        (codes::URM_APPROVAL_EXPIRED, late),
    ]
}
