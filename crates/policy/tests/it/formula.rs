//! The formula is the evaluator: on a hundred thousand random pairs, and for small policies on every context there is.

use countersign_canon::{Json, Timestamp};
use countersign_policy::{
    Algebra as _, ApprovalState, Atom, Authorization, Case, Cdcl, Circuit, Context, Evaluation, InForce, Lit,
    Model, Need, Policy, ProvidedApproval, QuorumRule, Solver as _, Verdict, authorize, build_context, steps,
    verdict,
};
use proptest::{prelude::ProptestConfig, prop_assert_eq, proptest};

use crate::{
    properties::{neighbours, request},
    random::{self, Random},
};

fn load(rules: Vec<Json<'static>>) -> Policy {
    Policy::load_json(&random::document(rules)).unwrap()
}

/// What a model says about a decision, as the evaluator would say it.
type Said<'p> = (Vec<(&'p str, u32)>, bool, Vec<Need>, bool, Vec<bool>);

fn said_by_model<'p>(verdict: &Verdict<'p, Lit>, model: &Model) -> Said<'p> {
    let so = |case: &&Case<'p, Lit>| model.holds(case.when);
    (
        verdict.cases.iter().filter(so).map(|case| (case.code, case.gate.number())).collect(),
        model.holds(verdict.required_approval),
        verdict.needs.iter().filter(|(_, wire)| model.holds(**wire)).map(|(need, _)| need.clone()).collect(),
        model.holds(verdict.warrant_invalid),
        verdict.matches.iter().map(|wire| model.holds(*wire)).collect(),
    )
}

/// `need` is whose approval is needed; the formula has a wire for each thing that anybody asks for.
fn said_by_evaluator<'p>(
    verdict: &Verdict<'_, Lit>,
    policy: &Policy,
    evaluation: &Evaluation<'p>,
    need: Option<&QuorumRule>,
) -> Said<'p> {
    let asked = |asked: &&Need| need.is_some_and(|need| asked.is_asked_by(need));
    assert!(need.is_none_or(|need| need.needs().all(|need| verdict.needs.contains_key(&need))));
    let matched: Vec<_> = evaluation.matched.iter().map(|rule| &rule.rule_id).collect();
    (
        vec![(evaluation.decision_code, evaluation.gate.number())],
        evaluation.required_approval,
        verdict.needs.keys().filter(asked).cloned().collect(),
        evaluation.warrant_invalid,
        policy.rules().iter().map(|rule| matched.contains(&&rule.rule_id)).collect(),
    )
}

/// A solver that knows the circuit, which is complete.
fn solver(circuit: &Circuit) -> Cdcl {
    let mut solver = Cdcl::default();
    for clause in circuit.clauses() {
        solver.add(clause).unwrap();
    }
    solver
}

/// The atoms in play, as this context has them.
fn facts(circuit: &mut Circuit, context: &Context) -> Vec<Lit> {
    let atoms: Vec<Atom> = circuit.atoms().cloned().collect();
    let truth = |atom: &Atom| {
        let wire = circuit.leaf(atom);
        if atom.holds(context) { wire } else { wire.negated() }
    };
    atoms.iter().map(truth).collect()
}

fn signed(wire: Lit, is: bool) -> Lit {
    if is { wire } else { wire.negated() }
}

proptest! {
    // Ten contexts for each policy: a hundred thousand pairs.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn the_rules_as_a_formula_are_the_evaluator(seed: u64) {
        let mut random = Random(seed);
        let policy = load(random::rules(&mut random, 8));
        let mut circuit = Circuit::default();
        let never = circuit.constant(false);
        let verdict = verdict(policy.rules(), never, &mut circuit);
        circuit.close();
        let mut solver = solver(&circuit);
        for _ in 0..10 {
            let context = Context::load(random::context(&mut random).to_canonical().as_bytes()).unwrap();
            let facts = facts(&mut circuit, &context);
            let model = solver.solve(&facts, circuit.wires()).unwrap().unwrap();
            let evaluation = policy.evaluate(&context, false);
            let need = evaluation.matched.quorum();
            prop_assert_eq!(said_by_model(&verdict, &model), said_by_evaluator(&verdict, &policy, &evaluation, need.as_ref()));
        }
    }

    #[test]
    fn the_seven_steps_as_a_formula_are_authorize(seed: u64) {
        let mut random = Random(seed);
        let policy = load(random::rules(&mut random, 5));
        let (lattice, allow) = neighbours(&mut random);
        let in_force = InForce { policy: &policy, lattice: &lattice, allow: &allow };
        let mut circuit = Circuit::default();
        let mut asked = circuit.asked_wires();
        let verdict = steps(in_force, asked.unseen, &mut circuit);
        circuit.demand_built(in_force, &mut asked);
        circuit.close();
        let mut solver = solver(&circuit);
        for _ in 0..10 {
            let request = request(&mut random);
            let now = Timestamp::from_unix(10).unwrap();
            let context = build_context(in_force, &request, now);
            let mut facts = facts(&mut circuit, &context);
            let is_revoked = matches!(&request.approval, ProvidedApproval::Record(record) if record.state == ApprovalState::Revoked);
            facts.push(signed(asked.unseen.approval_is_unknown, request.approval == ProvidedApproval::Unknown));
            facts.push(signed(asked.unseen.approval_is_revoked, is_revoked));
            let is_disabled = request.probe.found_disabled(&request.action_kind);
            facts.push(signed(asked.unseen.capability_is_disabled, is_disabled));
            let Authorization { trace, approval_need: need, .. } = authorize(in_force, &request, now);
            let evaluation = trace.evaluation;
            let is_short = matches!((&request.approval, &need), (ProvidedApproval::Record(_), Some(need)) if !request.approval.covers(need));
            facts.push(signed(asked.unseen.approval_is_short, is_short));
            // Every request is a model of what the builder is said to do.
            let model = solver.solve(&facts, circuit.wires()).unwrap().unwrap();
            prop_assert_eq!(said_by_model(&verdict, &model), said_by_evaluator(&verdict, &policy, &evaluation, need.as_ref()));
            // And the model as a request of its own is decided the same way.
            let (again, then) = circuit.request(&asked, &model).unwrap();
            prop_assert_eq!(authorize(in_force, &again, then).trace.evaluation, evaluation);
        }
    }
}

/// A policy over four fields, small enough for every context that it can tell apart.
fn small_policy(random: &mut Random) -> Policy {
    let atoms = [
        ("role_is", Some("copilot")),
        ("role_is", Some("auditor")),
        ("mode_is", Some("writes_allowed")),
        ("action_kind_is", Some("deploy")),
        ("action_kind_is", Some("fs.read")),
        ("session_active", None),
        ("approval_present", None),
    ];
    let rules = (0..4).map(|number| {
        let leaf = |random: &mut Random| {
            let (name, argument) = atoms[random.below(atoms.len())];
            let atom = Json::object([("atom", Json::from(name)), ("args", Json::array(argument))]);
            if random.chance(30) { Json::object([("op", Json::from("not")), ("arg", atom)]) } else { atom }
        };
        let parts = Json::array([leaf(random), leaf(random), leaf(random)]);
        let op = random.pick(&["and", "or"]);
        let when = Json::object([("op", Json::from(op)), ("args", parts)]);
        let rule = random::rule(random, &format!("r{number}"));
        let members = rule.as_object().unwrap().members().to_vec();
        let members = members.into_iter().map(|member| {
            let value = if member.key == "when" { when.clone() } else { member.value };
            (member.key, value)
        });
        Json::object(members)
    });
    load(rules.collect())
}

/// Every context over these values: 3 roles, 2 modes, 3 kinds, 32 combinations of yes and no.
fn every_context() -> Vec<Context> {
    let mut contexts = Vec::new();
    for (role, mode) in ["\"copilot\"", "\"auditor\"", "null"]
        .iter()
        .flat_map(|role| [(role, "read_only"), (role, "writes_allowed")])
    {
        for kind in ["deploy", "fs.read", "other"] {
            for switches in 0..32_u32 {
                let is = |bit: u32| switches >> bit & 1 == 1;
                let text = format!(
                    r#"{{"role": {role}, "mode": "{mode}", "action_kind": "{kind}", "action_hash": "{}",
                    "session_active": {}, "capabilities_present": [], "capabilities_allowed": [], "evidence_kinds": [],
                    "approval_present": {}, "approval_valid": {}, "approval_unexpired": {}, "approval_unused": {},
                    "warrant": null, "evaluation_ts": "1970-01-01T00:00:00Z"}}"#,
                    random::hash(7),
                    is(0),
                    is(1),
                    is(2),
                    is(3),
                    is(4),
                );
                contexts.push(Context::load(text.as_bytes()).unwrap());
            }
        }
    }
    contexts
}

/// Two hundred small policies, each on all 576 contexts that it could tell apart, and on no assignment besides.
#[test]
fn small_policies_agree_on_every_context_there_is() {
    let contexts = every_context();
    assert_eq!(contexts.len(), 576);
    for seed in 0..200 {
        let policy = small_policy(&mut Random(seed));
        let mut circuit = Circuit::default();
        let never = circuit.constant(false);
        let verdict = verdict(policy.rules(), never, &mut circuit);
        circuit.close();
        let mut solver_of_all = solver(&circuit);
        let mut classes = std::collections::BTreeSet::new();
        for context in &contexts {
            let facts = facts(&mut circuit, context);
            let model = solver_of_all.solve(&facts, circuit.wires()).unwrap().unwrap();
            let evaluation = policy.evaluate(context, false);
            let need = evaluation.matched.quorum();
            assert_eq!(
                said_by_model(&verdict, &model),
                said_by_evaluator(&verdict, &policy, &evaluation, need.as_ref()),
                "{seed}"
            );
            classes.insert(facts);
        }
        // The other way round: the formula's own models are these contexts and no others.
        let mut models = 0;
        let mut counting = solver(&circuit);
        while let Some(model) = counting.solve(&[], circuit.wires()).unwrap() {
            let facts = circuit.facts().into_iter().map(|wire| signed(wire, model.holds(wire)));
            counting.add(&facts.map(Lit::negated).collect::<Vec<_>>()).unwrap();
            models += 1;
        }
        assert_eq!(models, classes.len(), "{seed}");
    }
}
