//! Every class of contexts that two policies decide differently, complete and with a smallest witness each.

use alloc::{collections::BTreeMap, string::String, vec::Vec};

use countersign_canon::{Json, Wire as _};

use crate::{
    Algebra as _, Circuit, Context, Decision, Lit, Policy, Verdict,
    solve::{Session, Solver},
    verdict,
};

/// How a decision came out, as far as it can change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome<'p> {
    /// Yes or no.
    pub decision: Decision,
    /// With which code.
    pub decision_code: &'p str,
    /// Whether an approval is required.
    pub required_approval: bool,
}

impl<'p> Outcome<'p> {
    /// What the policy's rules alone say about the context.
    #[must_use]
    pub fn of(policy: &'p Policy, context: &Context) -> Self {
        let evaluation = policy.evaluate(context, false);
        Self {
            decision: evaluation.decision,
            decision_code: evaluation.decision_code,
            required_approval: evaluation.required_approval,
        }
    }

    /// The outcome as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        Json::object([
            ("decision", self.decision.write()),
            ("decision_code", Json::from(String::from(self.decision_code))),
            ("required_approval", Json::from(self.required_approval)),
        ])
    }
}

/// A class of contexts whose decision changes in the same way.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionChange<'p> {
    /// How the old policy decides.
    pub old: Outcome<'p>,
    /// How the new one does.
    pub new: Outcome<'p>,
    /// The smallest context of the class; both policies decide it as it says here.
    pub witness: Context,
}

/// Why a comparison has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompareError<E> {
    /// The solver failed.
    Solver(E),
    /// The formula and the evaluator disagree: a defect of ours.
    Disagreement,
}

/// Finds every class of contexts that the two policies decide differently; none means that no context changes.
///
/// Complete: the classes are found by a solver over all contexts, and every witness is decided again by both
/// policies' own evaluators.
///
/// # Errors
///
/// Fails if the solver does, or if a witness does not bear out what the formula says.
pub fn compare<'p, S: Solver>(
    old: &'p Policy,
    new: &'p Policy,
    solver: &mut S,
) -> Result<Vec<DecisionChange<'p>>, CompareError<S::Error>> {
    let mut circuit = Circuit::default();
    let never = circuit.constant(false);
    let sides =
        [old, new].map(|policy| Side::new(verdict(policy.rules(), never, &mut circuit), &mut circuit));
    circuit.close();
    let [old_side, new_side] = &sides;
    let mut same = never;
    for (outcome, old_wire) in &old_side.outcomes {
        if let Some(new_wire) = new_side.outcomes.get(outcome) {
            let both = circuit.and(*old_wire, *new_wire);
            same = circuit.or(same, both);
        }
    }
    let both = circuit.and(old_side.required, new_side.required);
    let neither = circuit.and(old_side.required.negated(), new_side.required.negated());
    let alike = circuit.or(both, neither);
    let same = circuit.and(same, alike);
    let differs = same.negated();
    let mut session = Session::new(circuit, solver);
    let mut changes = Vec::new();
    while let Some(model) = session.solve(&[differs]).map_err(CompareError::Solver)? {
        let context = session.circuit.context(&model);
        let outcomes = (Outcome::of(old, &context), Outcome::of(new, &context));
        let class: Option<Vec<Lit>> = [(&outcomes.0, old_side), (&outcomes.1, new_side)]
            .into_iter()
            .flat_map(|(outcome, side)| side.literals(outcome))
            .collect();
        let class = class.ok_or(CompareError::Disagreement)?;
        let smallest = session.smallest(&class).map_err(CompareError::Solver)?;
        let witness =
            smallest.map(|model| session.circuit.context(&model)).ok_or(CompareError::Disagreement)?;
        let again = (Outcome::of(old, &witness), Outcome::of(new, &witness));
        if again != outcomes || outcomes.0 == outcomes.1 {
            return Err(CompareError::Disagreement);
        }
        let block: Vec<Lit> = class.into_iter().map(Lit::negated).collect();
        session.circuit.demand(&block);
        changes.push(DecisionChange { old: outcomes.0, new: outcomes.1, witness });
    }
    changes.sort_by(|a, b| (&a.old, &a.new).cmp(&(&b.old, &b.new)));
    Ok(changes)
}

/// One policy in the circuit.
struct Side<'p> {
    outcomes: BTreeMap<(Decision, &'p str), Lit>,
    required: Lit,
}

impl<'p> Side<'p> {
    fn new(verdict: Verdict<'p, Lit>, circuit: &mut Circuit) -> Self {
        let mut outcomes = BTreeMap::new();
        for case in verdict.cases {
            let wire = outcomes.entry((case.decision, case.code)).or_insert(case.when);
            *wire = circuit.or(*wire, case.when);
        }
        Self { outcomes, required: verdict.required_approval }
    }

    /// The literals that say "this policy decides so"; nothing where the formula knows no such case.
    fn literals(&self, outcome: &Outcome<'_>) -> [Option<Lit>; 2] {
        let wire = self.outcomes.get(&(outcome.decision, outcome.decision_code)).copied();
        let required = if outcome.required_approval { self.required } else { self.required.negated() };
        [wire, Some(required)]
    }
}
