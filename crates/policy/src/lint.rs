//! Rules that cannot matter: those that never fire, and those that others always decide before.

use alloc::vec::Vec;

use crate::{
    Algebra as _, Circuit, Effect, Lit, Policy, QuorumRule, Rule, quorum,
    solve::{Session, Solver},
    verdict,
};

/// Why a rule cannot matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Idle {
    /// No context makes it match.
    NeverFires,
    /// Whenever it matches, rules before it settle what it would.
    Shadowed,
}

/// Finds every rule that cannot matter, in the order of the rules.
///
/// # Errors
///
/// Fails if the solver does.
pub fn idle_rules<'p, S: Solver>(
    policy: &'p Policy,
    solver: &mut S,
) -> Result<Vec<(&'p Rule, Idle)>, S::Error> {
    let mut circuit = Circuit::default();
    let never = circuit.constant(false);
    let matches = verdict(policy.rules(), never, &mut circuit).matches;
    let mut session = Session::new(circuit, solver);
    let matching = |effect: Effect| {
        let rules = policy.rules().iter().zip(&matches);
        rules.filter(move |(rule, _)| rule.then.effect == effect).map(|(_, wire)| *wire)
    };
    let denied = session.any(matching(Effect::DenyAction));
    let mut settled = Settled { deny: never, allow: denied, require: Vec::new() };
    let mut questions = Vec::new();
    for (rule, wire) in policy.rules().iter().zip(&matches) {
        let before = settled.before(rule, &mut session.circuit);
        let matters = session.circuit.and(*wire, before.negated());
        questions.push((rule, *wire, matters));
        settled.add(rule, *wire, &mut session.circuit);
    }
    session.circuit.close();
    let mut idle = Vec::new();
    for (rule, wire, matters) in questions {
        if session.solve(&[matters])?.is_some() {
            continue;
        }
        let fires = session.solve(&[wire])?.is_some();
        idle.push((rule, if fires { Idle::Shadowed } else { Idle::NeverFires }));
    }
    Ok(idle)
}

/// What the rules so far have settled, by effect. A deny settles every allow, wherever it stands.
struct Settled {
    deny: Lit,
    allow: Lit,
    require: Vec<(QuorumRule, Lit)>,
}

impl Settled {
    /// Whether they have settled what this rule would.
    fn before(&self, rule: &Rule, circuit: &mut Circuit) -> Lit {
        match rule.then.effect {
            Effect::DenyAction => self.deny,
            Effect::AllowAction => self.allow,
            Effect::RequireApproval => {
                let quorum = rule.quorum().unwrap_or_else(QuorumRule::anybody);
                quorum::settled(&self.require, &quorum, circuit)
            }
            Effect::SetWarrantInvalid | Effect::EmitAdvisory => circuit.constant(false),
        }
    }

    fn add(&mut self, rule: &Rule, wire: Lit, circuit: &mut Circuit) {
        match rule.then.effect {
            Effect::DenyAction => self.deny = circuit.or(self.deny, wire),
            Effect::AllowAction => self.allow = circuit.or(self.allow, wire),
            Effect::RequireApproval => self.require.extend(rule.quorum().map(|quorum| (quorum, wire))),
            Effect::SetWarrantInvalid | Effect::EmitAdvisory => (),
        }
    }
}
