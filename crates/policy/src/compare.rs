//! Every class of contexts that two policies decide differently, complete and with a smallest witness each.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    vec::Vec,
};

use countersign_canon::{Json, Wire as _};

use crate::{
    Algebra as _, Circuit, Context, Decision, Lit, Need, Policy, QuorumRule, Verdict,
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
    /// Whose approval is required, if one is.
    pub approval_need: Option<QuorumRule>,
}

impl<'p> Outcome<'p> {
    /// What the policy's rules alone say about the context.
    #[must_use]
    pub fn of(policy: &'p Policy, context: &Context) -> Self {
        let evaluation = policy.evaluate(context, false);
        Self {
            decision: evaluation.decision,
            decision_code: evaluation.decision_code,
            approval_need: evaluation.matched.quorum(),
        }
    }

    /// Whether it asks for an approval wherever the other does, by as many people and of the same kinds.
    #[must_use]
    pub fn asks_no_less_than(&self, other: &Self) -> bool {
        match (&self.approval_need, &other.approval_need) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(asked), Some(before)) => asked.covers(before),
        }
    }

    fn asks_for(&self, need: &Need) -> bool {
        self.approval_need.as_ref().is_some_and(|quorum| need.is_asked_by(quorum))
    }

    /// The outcome as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let members = [
            ("decision", self.decision.write()),
            ("decision_code", Json::from(String::from(self.decision_code))),
            ("required_approval", Json::from(self.approval_need.is_some())),
        ];
        let need = self.approval_need.iter().map(|need| ("approval_need", need.write()));
        Json::object(members.into_iter().chain(need))
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
    let needs: BTreeSet<Need> = sides.iter().flat_map(|side| side.verdict.needs.keys()).cloned().collect();
    let mut same = never;
    for (outcome, old_wire) in &old_side.outcomes {
        if let Some(new_wire) = new_side.outcomes.get(outcome) {
            let both = circuit.and(*old_wire, *new_wire);
            same = circuit.or(same, both);
        }
    }
    let asked = needs.iter().map(|need| (old_side.needed(need), new_side.needed(need)));
    for (old, new) in [(old_side.required(), new_side.required())].into_iter().chain(asked) {
        let both = circuit.and(old, new);
        let neither = circuit.and(old.negated(), new.negated());
        let alike = circuit.or(both, neither);
        same = circuit.and(same, alike);
    }
    let differs = same.negated();
    let mut session = Session::new(circuit, solver);
    let mut changes = Vec::new();
    while let Some(model) = session.solve(&[differs]).map_err(CompareError::Solver)? {
        let context = session.circuit.context(&model);
        let outcomes = (Outcome::of(old, &context), Outcome::of(new, &context));
        let class: Option<Vec<Lit>> = [(&outcomes.0, old_side), (&outcomes.1, new_side)]
            .into_iter()
            .flat_map(|(outcome, side)| side.literals(outcome, &needs))
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
    verdict: Verdict<'p, Lit>,
    never: Lit,
}

impl<'p> Side<'p> {
    fn new(verdict: Verdict<'p, Lit>, circuit: &mut Circuit) -> Self {
        let mut outcomes = BTreeMap::new();
        for case in &verdict.cases {
            let wire = outcomes.entry((case.decision, case.code)).or_insert(case.when);
            *wire = circuit.or(*wire, case.when);
        }
        Self { outcomes, verdict, never: circuit.constant(false) }
    }

    const fn required(&self) -> Lit {
        self.verdict.required_approval
    }

    fn needed(&self, need: &Need) -> Lit {
        self.verdict.needed(need).unwrap_or(self.never)
    }

    /// The literals that say "this policy decides so"; nothing where the formula knows no such case.
    fn literals(&self, outcome: &Outcome<'_>, needs: &BTreeSet<Need>) -> Vec<Option<Lit>> {
        let signed = |wire: Lit, is: bool| Some(if is { wire } else { wire.negated() });
        let wire = self.outcomes.get(&(outcome.decision, outcome.decision_code)).copied();
        let required = signed(self.required(), outcome.approval_need.is_some());
        let asked = needs.iter().map(|need| signed(self.needed(need), outcome.asks_for(need)));
        [wire, required].into_iter().chain(asked).collect()
    }
}
