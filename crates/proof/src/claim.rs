//! Theorems as formulas: each claim has a model exactly if the theorem is wrong.

use alloc::{collections::BTreeSet, format, string::String, vec::Vec};
use core::fmt::Write as _;

use countersign_canon::{Issue, choice};
use countersign_policy::{
    Algebra as _, AskedWires, Atom, Circuit, Decision, Effect, Lit, Mode, Model, Need, Needs, Policy,
    QuorumRule, Rule, RuleId, Verdict, asking, kind_with, settled, steps, verdict,
};

use crate::{Never, Obligation, RequestDocument, Subject, Theorem, Witness, code::codes};

/// The version of the encoding: it changes whenever a formula could.
pub const ENCODER_VERSION: &str = "1.2.0";

choice! {
    /// Which part of the way to a decision a claim is about.
    pub enum Scope {
        /// The rules alone, with every context there could be.
        Kernel = "kernel",
        /// All seven steps, with every request there could be.
        Authorize = "authorize",
    }
}

/// A formula that has a model exactly if its theorem is wrong in this scope.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) scope: Scope,
    pub(crate) circuit: Circuit,
    /// What a counterexample would have.
    pub(crate) violation: Lit,
    /// What shows that the theorem says something.
    pub(crate) twin: Lit,
    asked: Option<AskedWires>,
}

impl Claim {
    /// Every claim that the theorem makes about the subject. Deterministic: prover and checker get the same formulas.
    pub(crate) fn all(theorem: &Theorem, subject: &Subject) -> Result<Vec<Self>, Issue> {
        match theorem {
            Theorem::NoWrite => Ok([Scope::Kernel, Scope::Authorize]
                .into_iter()
                .map(|scope| no_write(subject, scope))
                .collect()),
            // Explored, not encoded.
            Theorem::SingleUse => Ok(Vec::new()),
            Theorem::NeverFires(rule) => Ok([never_fires(subject, find(subject, rule)?)].into()),
            Theorem::Shadowed(rule) => Ok([shadowed(subject, find(subject, rule)?)].into()),
            Theorem::OnlyTightens => Ok([only_tightens(subject.policy(), other(subject)?)].into()),
            Theorem::Equivalent => Ok([equivalent(subject.policy(), other(subject)?)].into()),
            Theorem::Custom(obligation) => Ok([custom(subject, obligation)].into()),
        }
    }

    /// The formula: the circuit, and that the theorem is broken.
    pub(crate) fn clauses(&self) -> Vec<Vec<i32>> {
        let numbers = |clause: &[Lit]| clause.iter().map(|literal| literal.number()).collect();
        let circuit = self.circuit.clauses().iter().map(|clause| numbers(clause));
        circuit.chain([numbers(&[self.violation])]).collect()
    }

    /// The formula in the DIMACS format.
    pub(crate) fn to_dimacs(&self) -> String {
        let clauses = self.clauses();
        let mut text = format!("p cnf {} {}\n", self.circuit.wires(), clauses.len());
        for clause in clauses {
            for literal in clause {
                // Writing to a String cannot fail.
                let _infallible = write!(text, "{literal} ");
            }
            text.push_str("0\n");
        }
        text
    }

    /// The context or request that a model describes.
    pub(crate) fn witness(&self, model: &Model) -> Option<Witness> {
        match &self.asked {
            None => Some(Witness { context: Some(self.circuit.context(model)), request: None }),
            Some(asked) => {
                let (request, now) = self.circuit.request(asked, model)?;
                Some(Witness { context: None, request: Some(RequestDocument::new(request, now)) })
            }
        }
    }
}

/// A circuit that decides, before it is closed.
struct Open<'s> {
    circuit: Circuit,
    verdict: Verdict<'s, Lit>,
    asked: Option<AskedWires>,
}

impl<'s> Open<'s> {
    fn new(subject: &'s Subject, scope: Scope) -> Self {
        let mut circuit = Circuit::default();
        let (verdict, asked) = match scope {
            Scope::Kernel => {
                let never = circuit.constant(false);
                (verdict(subject.policy().rules(), never, &mut circuit), None)
            }
            Scope::Authorize => {
                let asked = circuit.asked_wires();
                (steps(subject.in_force(), asked.unseen, &mut circuit), Some(asked))
            }
        };
        Self { circuit, verdict, asked }
    }

    fn allowed(&mut self) -> Lit {
        allowed(&self.verdict, &mut self.circuit)
    }

    /// Ends the circuit: all atoms are there.
    fn close(self, subject: &Subject, violation: Lit, twin: Lit) -> Claim {
        let Self { mut circuit, verdict: _, mut asked } = self;
        let scope = if asked.is_some() { Scope::Authorize } else { Scope::Kernel };
        if let Some(asked) = &mut asked {
            circuit.demand_built(subject.in_force(), asked);
        }
        circuit.close();
        Claim { scope, circuit, violation, twin, asked }
    }
}

fn any(bits: impl IntoIterator<Item = Lit>, circuit: &mut Circuit) -> Lit {
    let nothing = circuit.constant(false);
    bits.into_iter().fold(nothing, |any, bit| circuit.or(any, bit))
}

fn allowed(verdict: &Verdict<'_, Lit>, circuit: &mut Circuit) -> Lit {
    let cases = verdict.cases.iter().filter(|case| case.decision == Decision::Allow);
    any(cases.map(|case| case.when), circuit)
}

/// CLAUSE: K4.1. Which kinds write and which need an approval is read from the lattice; what rules require counts too.
fn no_write(subject: &Subject, scope: Scope) -> Claim {
    let mut open = Open::new(subject, scope);
    let allowed = open.allowed();
    let required = open.verdict.required_approval;
    let circuit = &mut open.circuit;
    let lattice = subject.in_force().lattice;
    let writes = kind_with(Needs::Writes, lattice, circuit);
    let by_lattice = kind_with(Needs::Approval, lattice, circuit);
    let needs = circuit.or(by_lattice, required);
    let everything = circuit.constant(true);
    let available = Atom::APPROVAL_AVAILABLE.iter().fold(everything, |all, atom| {
        let bit = circuit.leaf(atom);
        circuit.and(all, bit)
    });
    let mode = circuit.leaf(&Atom::ModeIs(Mode::WritesAllowed));
    let approved = circuit.or(needs.negated(), available);
    let safe = circuit.and(mode, approved);
    let acts = circuit.and(allowed, writes);
    let violation = circuit.and(acts, safe.negated());
    let twin = circuit.and(acts, safe);
    open.close(subject, violation, twin)
}

fn custom(subject: &Subject, obligation: &Obligation) -> Claim {
    let Obligation { schema: _, theorem_id: _, scope, when, never } = obligation;
    let Never { decision, decision_code, required_approval } = never;
    let mut open = Open::new(subject, *scope);
    let circuit = &mut open.circuit;
    let within = when.evaluate(circuit);
    let cases = open.verdict.cases.iter().filter(|case| {
        decision.is_none_or(|decision| case.decision == decision)
            && decision_code.as_ref().is_none_or(|code| case.code == code.as_str())
    });
    let so = any(cases.map(|case| case.when), circuit);
    let so = match required_approval {
        None => so,
        Some(true) => circuit.and(so, open.verdict.required_approval),
        Some(false) => circuit.and(so, open.verdict.required_approval.negated()),
    };
    let violation = circuit.and(within, so);
    open.close(subject, violation, within)
}

fn never_fires(subject: &Subject, rule: usize) -> Claim {
    let mut open = Open::new(subject, Scope::Kernel);
    let violation = open.verdict.matches.get(rule).copied();
    let twin = open.circuit.constant(true);
    let violation = violation.unwrap_or(twin);
    open.close(subject, violation, twin)
}

fn shadowed(subject: &Subject, rule: usize) -> Claim {
    let mut open = Open::new(subject, Scope::Kernel);
    let rules = subject.policy().rules();
    let Open { circuit, verdict, asked: _ } = &mut open;
    let always = circuit.constant(true);
    let fires = verdict.matches.get(rule).copied().unwrap_or(always);
    let settled = settled_before(rules, &verdict.matches, rule, circuit);
    let violation = circuit.and(fires, settled.negated());
    open.close(subject, violation, fires)
}

/// Whether earlier rules settle what this one would: one of its effect, for an allow any deny, and of those that ask for an
/// approval as many as it takes to ask for the same people.
fn settled_before(rules: &[Rule], matches: &[Lit], rule: usize, circuit: &mut Circuit) -> Lit {
    let nothing = circuit.constant(false);
    let (Some(this), Some(earlier)) = (rules.get(rule), rules.get(..rule)) else { return nothing };
    let of = |rules: &[Rule], effect: Effect| -> Vec<Lit> {
        let wires = rules.iter().zip(matches);
        wires.filter(|(rule, _)| rule.then.effect == effect).map(|(_, wire)| *wire).collect()
    };
    match this.then.effect {
        Effect::DenyAction => any(of(earlier, Effect::DenyAction), circuit),
        Effect::AllowAction => {
            let denies = of(rules, Effect::DenyAction);
            any(denies.into_iter().chain(of(earlier, Effect::AllowAction)), circuit)
        }
        Effect::RequireApproval => {
            let quorum = this.quorum().unwrap_or_else(QuorumRule::anybody);
            settled(&asking(earlier, matches), &quorum, circuit)
        }
        Effect::SetWarrantInvalid | Effect::EmitAdvisory => nothing,
    }
}

/// Both policies in one circuit, by the rules alone.
fn both<'p>(new: &'p Policy, old: &'p Policy) -> (Circuit, Verdict<'p, Lit>, Verdict<'p, Lit>) {
    let mut circuit = Circuit::default();
    let never = circuit.constant(false);
    let [new, old] = [new, old].map(|policy| verdict(policy.rules(), never, &mut circuit));
    (circuit, new, old)
}

fn compared(mut circuit: Circuit, violation: Lit) -> Claim {
    let twin = circuit.constant(true);
    circuit.close();
    Claim { scope: Scope::Kernel, circuit, violation, twin, asked: None }
}

fn only_tightens(new: &Policy, old: &Policy) -> Claim {
    let (mut circuit, new, old) = both(new, old);
    let new_allows = allowed(&new, &mut circuit);
    let old_allows = allowed(&old, &mut circuit);
    let nothing = circuit.constant(false);
    let asked = old.needs.iter().map(|(need, before)| (*before, new.needed(need).unwrap_or(nothing)));
    let asked: Vec<(Lit, Lit)> =
        [(old.required_approval, new.required_approval)].into_iter().chain(asked).collect();
    let looser = asked.into_iter().fold(old_allows.negated(), |looser, (before, now)| {
        let unasked = circuit.and(before, now.negated());
        circuit.or(looser, unasked)
    });
    let violation = circuit.and(new_allows, looser);
    compared(circuit, violation)
}

fn equivalent(new: &Policy, old: &Policy) -> Claim {
    let (mut circuit, new, old) = both(new, old);
    let nothing = circuit.constant(false);
    let needs: BTreeSet<&Need> = new.needs.keys().chain(old.needs.keys()).collect();
    let asked =
        needs.into_iter().map(|need| [&new, &old].map(|policy| policy.needed(need).unwrap_or(nothing)));
    let asked: Vec<[Lit; 2]> =
        [[new.required_approval, old.required_approval]].into_iter().chain(asked).collect();
    let mut same = circuit.constant(false);
    let mut outcomes: Vec<(Decision, &str)> =
        new.cases.iter().map(|case| (case.decision, case.code)).collect();
    outcomes.sort_unstable();
    outcomes.dedup();
    for outcome in outcomes {
        let [new_so, old_so] = [&new, &old].map(|verdict| {
            let cases = verdict.cases.iter().filter(|case| (case.decision, case.code) == outcome);
            any(cases.map(|case| case.when), &mut circuit)
        });
        let both = circuit.and(new_so, old_so);
        same = circuit.or(same, both);
    }
    for [new, old] in asked {
        let both = circuit.and(new, old);
        let neither = circuit.and(new.negated(), old.negated());
        let alike = circuit.or(both, neither);
        same = circuit.and(same, alike);
    }
    compared(circuit, same.negated())
}

/// Where the rule stands among those that decide.
fn find(subject: &Subject, id: &RuleId) -> Result<usize, Issue> {
    let rules = subject.policy().rules();
    rules.iter().position(|rule| rule.rule_id == *id).ok_or_else(|| {
        let message = format!("the policy has no rule `{id}`");
        let issue = Issue::new(codes::PROOF_RULE_UNKNOWN, message);
        match countersign_canon::nearest(id.as_str(), rules.iter().map(|rule| rule.rule_id.as_str())) {
            Some(meant) => issue.with_hint(format!("did you mean `{meant}`?")),
            None => issue,
        }
    })
}

fn other(subject: &Subject) -> Result<&Policy, Issue> {
    subject
        .other()
        .ok_or_else(|| Issue::new(codes::PROOF_POLICY_MISSING, "there is no policy to compare with"))
}
