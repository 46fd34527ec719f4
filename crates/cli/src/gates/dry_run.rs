//! The gates of the dry run.

mod dependencies;
mod examples;
mod gate_a;
mod gate_b;
mod gate_c;
mod gate_d;
mod gate_e;
mod gate_f;

use std::path::Path;

use countersign_canon::{Issue, Json, NonEmpty, Wire};
use countersign_dryrun::{OverBudget, PlanOptions, Source, explain_text, plan, read_result, validate};
use countersign_intent::Registry;

use crate::{
    failure::Failure,
    gates::{Checked, chosen},
};
use examples::Examples;

/// What the gates use: the engine as it is, or in tests one that is broken on purpose.
#[derive(Debug, Clone, Copy)]
struct Engine {
    /// The result of a source.
    plan: fn(&Source, PlanOptions<'_>) -> Result<Json<'static>, NonEmpty<Issue>>,
    /// Everything that is wrong with a result, held against its source.
    judge: fn(&Json<'_>, &Source, Option<&Registry>) -> Vec<Issue>,
    /// A result for people.
    explain: fn(&Json<'_>) -> String,
}

/// The engine as it is.
const ENGINE: Engine = Engine { plan: result, judge, explain };

fn result(source: &Source, options: PlanOptions<'_>) -> Result<Json<'static>, NonEmpty<Issue>> {
    plan(source, options).map(|result| result.write())
}

fn judge(result: &Json<'_>, source: &Source, registry: Option<&Registry>) -> Vec<Issue> {
    validate(result, source, registry, OverBudget::Refused).map_or_else(NonEmpty::into_vec, |_| Vec::new())
}

fn explain(result: &Json<'_>) -> String {
    read_result(result).map_or_else(|issues| format!("{issues:?}"), |result| explain_text(&result))
}

/// One gate.
struct Gate {
    letter: &'static str,
    what: &'static str,
    check: fn(&Examples, Engine) -> Vec<String>,
}

const GATES: &[Gate] = &[gate_a::GATE, gate_b::GATE, gate_c::GATE, gate_d::GATE, gate_e::GATE, gate_f::GATE];

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
