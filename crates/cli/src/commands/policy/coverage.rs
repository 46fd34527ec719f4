//! `countersign policy coverage`: rules that nothing has ever hit.

use std::{fmt::Write as _, path::PathBuf};

use clap::ValueEnum;
use countersign_canon::{Json, Wire as _};
use countersign_policy::{CaseFile, Coverage};

use super::document::load;
use crate::{console::Console, exit::Exit, failure::Failure, source::Source};

/// Show how often each rule matches the contexts of test cases, and which rules nothing hits
///
/// Without case files the policy's own examples are counted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy coverage policy/odeu.instructions.v1.json cases/*.json

Exit: 0 every rule is hit, 1 some rule is not, or a document is invalid, 2 a file could not be read")]
pub(super) struct Arguments {
    /// The policy, as JSON or YAML
    policy: PathBuf,
    /// Files of test cases
    cases: Vec<PathBuf>,
    /// For people or for machines
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let policy = load(&arguments.policy)?;
    let mut contexts = if arguments.cases.is_empty() { policy.example_contexts() } else { Vec::new() };
    for path in &arguments.cases {
        let source = Source::read(path)?;
        let file = match CaseFile::load(&source.bytes) {
            Ok(file) => file,
            Err(issues) => return Err(Failure::Refused { source, issues }),
        };
        contexts.extend(file.cases.iter().map(|case| case.context.complete()));
    }
    let coverage = Coverage::of(&policy, &contexts);
    console.data(&match arguments.format {
        Format::Text => text(&coverage),
        Format::Json => json(&coverage).to_pretty(),
    })?;
    Ok(if coverage.never_hit().next().is_none() { Exit::Yes } else { Exit::No })
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
