//! `countersign scan test`: the rules' own tests.

use std::fmt::Write as _;

use countersign_canon::{Json, Wire as _};
use countersign_scan::{Expectation, Plan, Trial, escape_text, run_tests, show_path};

use super::TargetArguments;
use crate::{console::Console, exit::Exit, failure::Failure, format::Format};

/// Run the tests that rules bring along
///
/// A rule may have tests: small files under violates and passes, each with a path and its content. A file under
/// violates must break the rule, one under passes must not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign scan test
  countersign scan test --rules policy/rules --format json

Exit: 0 all tests hold, 1 one does not, 2 the rules cannot be used")]
pub(super) struct Arguments {
    #[command(flatten)]
    target: TargetArguments,
    /// For people, or for machines
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let bundle = arguments.target.bundle()?;
    let trials = run_tests(&bundle, &Plan::new(&bundle));
    let failed = trials.iter().filter(|trial| !trial.is_kept()).count();
    let untested = bundle.rules().iter().filter(|rule| rule.tests.is_none()).map(|rule| rule.id.as_str());
    let untested: Vec<&str> = untested.collect();
    console.data(&match arguments.format {
        Format::Text => as_text(&trials, failed, &untested),
        Format::Json => as_json(&trials, failed, &untested).to_pretty(),
    })?;
    Ok(if failed == 0 { Exit::Yes } else { Exit::No })
}

fn expected(expectation: Expectation) -> &'static str {
    match expectation {
        Expectation::Violates => "violates",
        Expectation::Passes => "passes",
    }
}

fn as_text(trials: &[Trial<'_>], failed: usize, untested: &[&str]) -> String {
    let mut text = String::new();
    for trial in trials {
        let explanation = &trial.explanation;
        let word = if trial.is_kept() { "ok" } else { "FAILED" };
        let path = show_path(&explanation.path);
        // Writing to a String cannot fail.
        let _infallible = writeln!(
            text,
            "{word:<6} {} {} {}",
            explanation.rule.id,
            expected(trial.expectation),
            escape_text(&path)
        );
        if !trial.is_kept() {
            explanation.to_text().lines().skip(1).for_each(|line| {
                let _infallible = writeln!(text, "       {}", line.trim_start());
            });
        }
    }
    if !untested.is_empty() {
        let _infallible = writeln!(text, "without tests: {}", untested.join(", "));
    }
    let _infallible = writeln!(text, "{} tests, {failed} failed", trials.len());
    text
}

fn as_json(trials: &[Trial<'_>], failed: usize, untested: &[&str]) -> Json<'static> {
    let rows = trials.iter().map(|trial| {
        Json::object([
            ("expected", Json::from(expected(trial.expectation))),
            ("holds", Json::from(trial.is_kept())),
            ("explanation", trial.explanation.to_json()),
        ])
    });
    let untested: Vec<String> = untested.iter().map(|id| (*id).to_owned()).collect();
    Json::object([
        ("tests", Json::array(rows)),
        ("failed", Json::from(u32::try_from(failed).unwrap_or(u32::MAX))),
        ("untested", untested.write()),
    ])
}
