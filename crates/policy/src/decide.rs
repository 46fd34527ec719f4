//! From matching rules to a decision (K1.5): once as a formula over any algebra, once over the matches at run time.

use alloc::{collections::BTreeMap, vec::Vec};

use countersign_canon::choice;

use crate::{
    Atom, Context, Effect, Matched, Need, Policy, QuorumRule, Rule, algebra::Algebra, codes, compile::Facts,
    context::InContext, quorum,
};

choice! {
    /// Yes or no.
    pub enum Decision {
        /// The action may proceed.
        Allow = "allow",
        /// It may not.
        Deny = "deny",
    }
}

/// Which of the seven steps of K2.1 decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gate {
    /// 1: the lattice knows the kind and the probe found its capability.
    Capability,
    /// 2: the role is granted the capability.
    Grant,
    /// 3: the mode permits the action.
    Mode,
    /// 4: the approval that came with the action is usable.
    Approval,
    /// 5: the rules.
    Kernel,
    /// 6: an approval is required and there is none.
    ApprovalRequired,
    /// 7: the action may proceed.
    Proceed,
}

impl Gate {
    /// Every gate, in order.
    pub const ALL: [Self; 7] = [
        Self::Capability,
        Self::Grant,
        Self::Mode,
        Self::Approval,
        Self::Kernel,
        Self::ApprovalRequired,
        Self::Proceed,
    ];

    /// The number of the step.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Capability => 1,
            Self::Grant => 2,
            Self::Mode => 3,
            Self::Approval => 4,
            Self::Kernel => 5,
            Self::ApprovalRequired => 6,
            Self::Proceed => 7,
        }
    }

    /// The gate with this number.
    #[must_use]
    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|gate| i64::from(gate.number()) == number)
    }

    /// What the step asks, for people.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Capability => "the capability exists and the client has it",
            Self::Grant => "the role is granted the capability",
            Self::Mode => "the mode permits the action",
            Self::Approval => "the approval given is usable",
            Self::Kernel => "the rules of the policy",
            Self::ApprovalRequired => "an approval is required",
            Self::Proceed => "the action may proceed",
        }
    }
}

/// One way a decision can come out, and when it does.
#[derive(Debug, Clone, Copy)]
pub struct Case<'p, Bit> {
    /// Yes or no.
    pub decision: Decision,
    /// With which code.
    pub code: &'p str,
    /// At which step.
    pub gate: Gate,
    /// Whether this is the case.
    pub when: Bit,
}

/// A policy's meaning over some algebra: exactly one case is so.
#[derive(Debug, Clone)]
pub struct Verdict<'p, Bit> {
    /// The cases, exclusive and exhaustive.
    pub cases: Vec<Case<'p, Bit>>,
    /// Which rules match, in order.
    pub matches: Vec<Bit>,
    /// Whether an approval is required.
    pub required_approval: Bit,
    /// What is asked of it beyond one person's yes, and when.
    pub needs: BTreeMap<Need, Bit>,
    /// Whether the warrant is marked invalid.
    pub warrant_invalid: Bit,
}

impl<Bit: Copy> Verdict<'_, Bit> {
    /// When this is asked of an approval; nothing if it never is.
    #[must_use]
    pub fn needed(&self, need: &Need) -> Option<Bit> {
        match need {
            // Who asks for three people asks for two.
            Need::People(_) => {
                let (found, bit) = self.needs.range(need..).next()?;
                matches!(found, Need::People(_)).then_some(*bit)
            }
            Need::Review(_) => self.needs.get(need).copied(),
        }
    }
}

/// The meaning of rules, which must be in the order in which they decide. CLAUSE: K1.5.
///
/// `required` says whether an approval is required already, by the lattice.
pub fn verdict<'p, A: Algebra<Atom>>(
    rules: &'p [Rule],
    required: A::Bit,
    algebra: &mut A,
) -> Verdict<'p, A::Bit> {
    let matches: Vec<A::Bit> = rules.iter().map(|rule| rule.when.evaluate(algebra)).collect();
    let matching = |effect: Effect| {
        let fits =
            move |(rule, bit): (&'p Rule, &A::Bit)| (rule.then.effect == effect).then_some((rule, *bit));
        rules.iter().zip(&matches).filter_map(fits).collect::<Vec<_>>()
    };
    let mut cases = Vec::new();
    let mut free = algebra.constant(true);
    for (rule, bit) in matching(Effect::DenyAction) {
        let when = algebra.and(free, bit);
        cases.push(Case { decision: Decision::Deny, code: rule.code.as_str(), gate: Gate::Kernel, when });
        let no_match = algebra.not(bit);
        free = algebra.and(free, no_match);
    }
    let required_approval =
        matching(Effect::RequireApproval).into_iter().fold(required, |any, (_, bit)| algebra.or(any, bit));
    let truth = algebra.constant(true);
    let available = Atom::APPROVAL_AVAILABLE.iter().fold(truth, |all, atom| {
        let bit = algebra.leaf(atom);
        algebra.and(all, bit)
    });
    let unavailable = algebra.not(available);
    let blocked = algebra.and(required_approval, unavailable);
    let unblocked = algebra.not(blocked);
    let proceeds = algebra.and(free, unblocked);

    let mut no_allow = algebra.constant(true);
    let mut allows = Vec::new();
    for (rule, bit) in matching(Effect::AllowAction) {
        let first = algebra.and(no_allow, bit);
        let when = algebra.and(proceeds, first);
        allows.push(Case { decision: Decision::Allow, code: rule.code.as_str(), gate: Gate::Proceed, when });
        let no_match = algebra.not(bit);
        no_allow = algebra.and(no_allow, no_match);
    }
    let when = algebra.and(free, no_allow);
    let code = codes::URM_POLICY_DENIED.as_str();
    cases.push(Case { decision: Decision::Deny, code, gate: Gate::Kernel, when });
    let some_allow = algebra.not(no_allow);
    let waiting = algebra.and(free, blocked);
    let when = algebra.and(waiting, some_allow);
    let code = codes::URM_APPROVAL_REQUIRED.as_str();
    cases.push(Case { decision: Decision::Deny, code, gate: Gate::ApprovalRequired, when });
    cases.extend(allows);

    let falsehood = algebra.constant(false);
    let warrant_invalid =
        matching(Effect::SetWarrantInvalid).into_iter().fold(falsehood, |any, (_, bit)| algebra.or(any, bit));
    let needs = quorum::needs(&asking(rules, &matches), algebra);
    Verdict { cases, matches, required_approval, needs, warrant_invalid }
}

/// Which quorum rules ask for, and when.
#[must_use]
pub fn asking<Bit: Copy>(rules: &[Rule], matches: &[Bit]) -> Vec<(QuorumRule, Bit)> {
    rules.iter().zip(matches).filter_map(|(rule, bit)| Some((rule.quorum()?, *bit))).collect()
}

/// What the rules say about one context.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation<'p> {
    /// Yes or no.
    pub decision: Decision,
    /// With which code.
    pub decision_code: &'p str,
    /// At which step.
    pub gate: Gate,
    /// Whether an approval is required.
    pub required_approval: bool,
    /// Whether the warrant is marked invalid.
    pub warrant_invalid: bool,
    /// Every matching rule, in order.
    pub matched: Matched<'p>,
}

/// The rule that a decision at this step rests on, among those that matched, in order: the first that denies, that asks for the
/// approval which is missing, or that allows. Where a gate decided, or no rule allowed it, there is none.
#[must_use]
pub fn deciding_rule<'r>(gate: Gate, mut matched: impl Iterator<Item = &'r Rule>) -> Option<&'r Rule> {
    let effect = match gate {
        Gate::Capability | Gate::Grant | Gate::Mode | Gate::Approval => return None,
        Gate::Kernel => Effect::DenyAction,
        Gate::ApprovalRequired => Effect::RequireApproval,
        Gate::Proceed => Effect::AllowAction,
    };
    matched.find(|rule| rule.then.effect == effect)
}

impl Policy {
    /// Decides with the compiled form. `required` says whether the lattice requires an approval.
    #[must_use]
    pub fn evaluate(&self, context: &Context, required: bool) -> Evaluation<'_> {
        self.evaluate_facts(&self.compiled.facts(context), required)
    }

    pub(crate) fn evaluate_facts(&self, facts: &Facts, required: bool) -> Evaluation<'_> {
        let mut matched = Matched::none(self);
        self.compiled.each_match(facts, &mut |index| matched.push(index));
        conclude(matched, required, facts.approval_is_available())
    }

    /// Decides with the plain interpreter: the readable reference, which the compiled form is tested against.
    #[must_use]
    pub fn evaluate_by_reference(&self, context: &Context, required: bool) -> Evaluation<'_> {
        let verdict = verdict(self.rules(), required, &mut InContext(context));
        let (decision, decision_code, gate) = verdict
            .cases
            .iter()
            .find(|case| case.when)
            .map_or((Decision::Deny, codes::URM_POLICY_DENIED.as_str(), Gate::Kernel), |case| {
                (case.decision, case.code, case.gate)
            });
        let matching = verdict.matches.iter().enumerate().filter(|(_, matches)| **matches);
        Evaluation {
            decision,
            decision_code,
            gate,
            required_approval: verdict.required_approval,
            warrant_invalid: verdict.warrant_invalid,
            matched: Matched::new(self, matching.map(|(index, _)| index)),
        }
    }
}

/// Deny overrides, then no allow, then a missing approval, then the first allow. CLAUSE: K1.5.
fn conclude(matched: Matched<'_>, required: bool, approval_is_available: bool) -> Evaluation<'_> {
    let firsts = matched.firsts();
    let of = |effect: Effect| firsts.get(effect.index()).copied().flatten().map(|rule| rule.code.as_str());
    let (deny, allow) = (of(Effect::DenyAction), of(Effect::AllowAction));
    let required_approval = required || of(Effect::RequireApproval).is_some();
    let warrant_invalid = of(Effect::SetWarrantInvalid).is_some();
    let (decision, decision_code, gate) = match (deny, allow, required_approval && !approval_is_available) {
        (Some(code), _, _) => (Decision::Deny, code, Gate::Kernel),
        (None, None, _) => (Decision::Deny, codes::URM_POLICY_DENIED.as_str(), Gate::Kernel),
        (None, Some(_), true) => {
            (Decision::Deny, codes::URM_APPROVAL_REQUIRED.as_str(), Gate::ApprovalRequired)
        }
        (None, Some(code), false) => (Decision::Allow, code, Gate::Proceed),
    };
    Evaluation { decision, decision_code, gate, required_approval, warrant_invalid, matched }
}
