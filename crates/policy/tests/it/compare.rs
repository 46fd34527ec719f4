//! The formula is the evaluator, and the comparison of two policies is complete and its witnesses smallest.

use countersign_canon::Json;
use countersign_policy::{
    Algebra as _, Atom, Cdcl, Circuit, Context, Lit, Outcome, Policy, Solver as _, compare, idle_rules,
    verdict,
};
use proptest::{prelude::ProptestConfig, prop_assert, prop_assert_eq, proptest};

use crate::random::{self, Random};

fn load(rules: Vec<Json<'static>>) -> Policy {
    Policy::load_json(&random::document(rules)).unwrap()
}

/// A policy and the same one with a few rules changed, dropped or added.
fn pair(random: &mut Random) -> (Policy, Policy) {
    let old = random::rules(random, 6);
    let mut new = old.clone();
    for _ in 0..random.below(3) {
        if !new.is_empty() && random.chance(60) {
            let at = random.below(new.len());
            new.remove(at);
        } else {
            let id = format!("n{}", new.len());
            new.push(random::rule(random, &id));
        }
    }
    (load(old), load(new))
}

fn context(random: &mut Random) -> Context {
    Context::load(random::context(random).to_canonical().as_bytes()).unwrap()
}

/// Every atom of these policies.
fn atoms(policies: [&Policy; 2]) -> Vec<&Atom> {
    let mut atoms = Vec::new();
    for rule in policies.into_iter().flat_map(Policy::rules) {
        atoms.extend(rule.when.leaves());
    }
    atoms.extend(Atom::APPROVAL_AVAILABLE.iter());
    atoms.sort();
    atoms.dedup();
    atoms
}

/// How many facts of the context the policies can see, beyond a blank one.
fn size(policies: [&Policy; 2], context: &Context) -> usize {
    let facts = atoms(policies).into_iter().filter(|atom| {
        !matches!(atom, Atom::ModeIs(countersign_policy::Mode::ReadOnly)) && atom.holds(context)
    });
    let read_only_is_asked = atoms(policies).contains(&&Atom::ModeIs(countersign_policy::Mode::ReadOnly));
    let writes_is_asked = atoms(policies).contains(&&Atom::ModeIs(countersign_policy::Mode::WritesAllowed));
    let hidden =
        read_only_is_asked && !writes_is_asked && context.mode == countersign_policy::Mode::WritesAllowed;
    facts.count() + usize::from(hidden)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn the_formula_agrees_with_the_evaluator(seed: u64) {
        let mut random = Random(seed);
        let policy = load(random::rules(&mut random, 6));
        let context = context(&mut random);
        let mut circuit = Circuit::default();
        let never = circuit.constant(false);
        let verdict = verdict(policy.rules(), never, &mut circuit);
        let facts: Vec<Lit> = atoms([&policy, &policy])
            .into_iter()
            .map(|atom| {
                let wire = circuit.leaf(atom);
                if atom.holds(&context) { wire } else { wire.negated() }
            })
            .collect();
        circuit.close();
        let mut solver = Cdcl::default();
        for clause in circuit.clauses() {
            solver.add(clause).unwrap();
        }
        // A real context is a model of the axioms, and the model says what the evaluator says.
        let model = solver.solve(&facts, circuit.wires()).unwrap().unwrap();
        let evaluation = policy.evaluate(&context, false);
        let so: Vec<(&str, _)> =
            verdict.cases.iter().filter(|case| model.holds(case.when)).map(|case| (case.code, case.gate)).collect();
        prop_assert_eq!(so, vec![(evaluation.decision_code, evaluation.gate)]);
        prop_assert_eq!(model.holds(verdict.required_approval), evaluation.required_approval);
        prop_assert_eq!(model.holds(verdict.warrant_invalid), evaluation.warrant_invalid);
        // And the model as a context is decided the same way.
        let again = circuit.context(&model);
        prop_assert_eq!(policy.evaluate(&again, false), evaluation);
    }

}

proptest! {
    // Each case asks the solver some dozens of questions.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn no_change_escapes_and_no_smaller_witness_exists(seed: u64) {
        let mut random = Random(seed);
        let (old, new) = pair(&mut random);
        let changes = compare(&old, &new, &mut Cdcl::default()).unwrap();
        for _ in 0..12 {
            let context = context(&mut random);
            let outcomes = (Outcome::of(&old, &context), Outcome::of(&new, &context));
            let class = changes.iter().find(|change| (&change.old, &change.new) == (&outcomes.0, &outcomes.1));
            match class {
                None => prop_assert_eq!(outcomes.0, outcomes.1),
                Some(class) => prop_assert!(size([&old, &new], &class.witness) <= size([&old, &new], &context)),
            }
        }
        if old.hash() == new.hash() {
            prop_assert!(changes.is_empty());
        }
    }

    #[test]
    fn an_idle_rule_can_be_left_out(seed: u64) {
        let mut random = Random(seed);
        let rules = random::rules(&mut random, 6);
        let policy = load(rules.clone());
        let idle = idle_rules(&policy, &mut Cdcl::default()).unwrap();
        if let Some((rule, _)) = idle.first() {
            let others = rules.into_iter().filter(|other| {
                other.get("rule_id").and_then(Json::as_str) != Some(rule.rule_id.as_str())
            });
            let without = load(others.collect());
            prop_assert!(compare(&policy, &without, &mut Cdcl::default()).unwrap().is_empty());
        }
    }
}

#[test]
fn a_change_has_its_class_and_its_witness() {
    let shipped = Policy::load(countersign_policy::shipped::STANDARD.policy).unwrap();
    let mut rules = shipped.to_document().get("rules").unwrap().as_array().unwrap().to_vec();
    rules.retain(|rule| rule.get("rule_id").and_then(Json::as_str) != Some("deny.force_push"));
    let without = load(rules);
    let changes = compare(&shipped, &without, &mut Cdcl::default()).unwrap();
    let shown: Vec<String> = changes
        .iter()
        .map(|change| {
            format!(
                "{} -> {} on {}",
                change.old.decision_code, change.new.decision_code, change.witness.action_kind
            )
        })
        .collect();
    // Without a session, or for an auditor, it stays denied; else it is only no longer denied by that rule.
    assert_eq!(
        shown,
        [
            "FORCE_PUSH_DENIED -> AUDITOR_ONLY_READS on git.push_force",
            "FORCE_PUSH_DENIED -> URM_POLICY_DENIED on git.push_force"
        ]
    );
}
