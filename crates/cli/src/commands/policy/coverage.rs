//! `countersign policy coverage`: rules that nothing has ever hit.

use std::{fmt::Write as _, path::PathBuf};

use countersign_canon::{Json, Wire as _};
use countersign_policy::{CaseFile, Context, Coverage};
use countersign_service::Situation;

use super::document::load;
use crate::{
    console::Console, embedded::Place, exit::Exit, failure::Failure, format::Format, source::Source,
};

/// Show how often each rule matches the contexts of test cases or of recorded decisions, and which rules nothing hits
///
/// Without case files and --recorded the policy's own examples are counted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy coverage policy/odeu.instructions.v1.json cases/*.json
  countersign policy coverage policy/odeu.instructions.v1.json --recorded

Exit: 0 every rule is hit, 1 some rule is not, or a document is invalid, 2 a file could not be read")]
pub(super) struct Arguments {
    /// The policy, as JSON or YAML
    policy: PathBuf,
    /// Files of test cases
    cases: Vec<PathBuf>,
    /// Count the decisions that were recorded, where the rules were asked
    #[arg(long)]
    recorded: bool,
    #[command(flatten)]
    place: Place,
    /// For people or for machines
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let policy = load(&arguments.policy)?;
    let is_plain = arguments.cases.is_empty() && !arguments.recorded;
    let mut contexts = if is_plain { once(policy.example_contexts()) } else { Vec::new() };
    for path in &arguments.cases {
        let source = Source::read(path)?;
        let file = match CaseFile::load(&source.bytes) {
            Ok(file) => file,
            Err(issues) => return Err(Failure::Refused { source, issues }),
        };
        contexts.extend(file.cases.iter().map(|case| (case.context.complete(), 1)));
    }
    if arguments.recorded {
        let situations = arguments.place.open()?.situations()?;
        let asked = situations.into_iter().filter(Situation::was_asked);
        contexts.extend(asked.map(|it| (it.context, usize::try_from(it.count).unwrap_or(usize::MAX))));
    }
    let coverage = Coverage::of(&policy, &contexts);
    console.data(&match arguments.format {
        Format::Text => text(&coverage),
        Format::Json => json(&coverage).to_pretty(),
    })?;
    Ok(if coverage.never_hit().next().is_none() { Exit::Yes } else { Exit::No })
}

/// Each context, counted once.
fn once(contexts: Vec<Context>) -> Vec<(Context, usize)> {
    contexts.into_iter().map(|context| (context, 1)).collect()
}

fn text(coverage: &Coverage<'_>) -> String {
    let mut text = String::new();
    for (rule, hits) in &coverage.rules {
        let mark = if *hits == 0 { "  never hit" } else { "" };
        let _infallible = writeln!(text, "{hits:>6}  {rule}{mark}");
    }
    let hit = coverage.rules.len().saturating_sub(coverage.never_hit().count());
    let (rules, contexts) = (coverage.rules.len(), coverage.contexts);
    let _infallible = writeln!(text, "{hit} of {rules} rules hit by {contexts} contexts");
    text
}

fn json(coverage: &Coverage<'_>) -> Json<'static> {
    let number = |count: usize| Json::from(u32::try_from(count).unwrap_or(u32::MAX));
    let rules = coverage
        .rules
        .iter()
        .map(|(rule, hits)| Json::object([("rule_id", rule.write()), ("hits", number(*hits))]));
    Json::object([
        ("schema", Json::from("instruction-policy-coverage@1")),
        ("contexts", number(coverage.contexts)),
        ("rules", Json::array(rules)),
        ("never_hit", Json::array(coverage.never_hit().map(countersign_canon::Wire::write))),
    ])
}
