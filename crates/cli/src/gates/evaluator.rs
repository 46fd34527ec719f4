//! The gates of the intent evaluator.

mod examples;
mod gate_a;
mod gate_b;
mod gate_c;
mod gate_d;
mod gate_e;
mod gate_f;
mod gate_g;
mod gate_h;
mod gate_i;
mod gate_j;

use std::path::Path;

use countersign_canon::{Issue, Json, NonEmpty, Wire};
use countersign_intent::{EvaluateOptions, IntentSet, evaluate, explain_text, read_evaluation};

use crate::{
    effects::isolation,
    failure::Failure,
    gates::{Checked, chosen},
};
use examples::Examples;

/// The documents of an outcome, or why there are none.
type Documents = Result<Vec<Json<'static>>, NonEmpty<Issue>>;

/// The exit code of a program, or why it could not be started.
type Ended = Result<Option<i32>, Issue>;

/// What the gates run: the engine as it is, or in tests one that is broken on purpose.
#[derive(Debug, Clone, Copy)]
struct Engine {
    /// Result, plan and perhaps questions.
    evaluate: fn(&IntentSet, EvaluateOptions<'_>) -> Documents,
    /// A result for people.
    explain: fn(&Json<'_>) -> String,
    /// The program, in a folder, with a home and these arguments; gives its exit code.
    run: fn(&Path, &Path, &[&str]) -> Ended,
}

/// The engine as it is.
const ENGINE: Engine = Engine { evaluate: outcome, explain, run: isolation::run_self };

fn outcome(set: &IntentSet, options: EvaluateOptions<'_>) -> Documents {
    let outcome = evaluate(set, options)?;
    let questions = outcome.questions.as_ref().map(Wire::write);
    Ok([outcome.result.write(), outcome.plan.write()].into_iter().chain(questions).collect())
}

fn explain(result: &Json<'_>) -> String {
    read_evaluation(result).map_or_else(|issues| format!("{issues:?}"), |result| explain_text(&result))
}

/// One gate.
struct Gate {
    letter: &'static str,
    what: &'static str,
    check: fn(&Examples, Engine) -> Vec<String>,
}

const GATES: &[Gate] = &[
    gate_a::GATE,
    gate_b::GATE,
    gate_c::GATE,
    gate_d::GATE,
    gate_e::GATE,
    gate_f::GATE,
    gate_g::GATE,
    gate_h::GATE,
    gate_i::GATE,
    gate_j::GATE,
];

/// Runs the gates with these letters, or all.
pub(crate) fn run(root: &Path, letters: &[String]) -> Result<Vec<Checked>, Failure> {
    let wanted = chosen(GATES, |gate| gate.letter, letters)?;
    let examples = Examples::load(root)?;
    Ok(wanted.into_iter().map(|gate| checked(gate, &examples, ENGINE)).collect())
}

fn checked(gate: &Gate, examples: &Examples, engine: Engine) -> Checked {
    Checked { letter: gate.letter, what: gate.what, complaints: (gate.check)(examples, engine) }
}

#[cfg(test)]
mod tests;
