//! `countersign dry-run validate`: a result held against itself, and against the intent it was made from.

use std::path::PathBuf;

use countersign_canon::NonEmpty;
use countersign_dryrun::{OverBudget, dry_run_codes, read_result, validate};

use crate::{
    console::Console,
    dry_run::inputs,
    exit::Exit,
    failure::Failure,
    intent::{
        registry::RegistryArguments,
        report::{self, Refusal},
    },
    source::Source,
};

/// Check a dry-run result: form, red lines DE1 to DE6, checksums; with --intent also that the intent gives it
///
/// With --intent the result is made again: every value that differs is reported, times aside.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign dry-run validate ../plans/dryexec_0123456789abcdef.json
  countersign dry-run validate ../plans/dryexec_0123456789abcdef.json --intent intent_add_logging.json

Exit: 0 valid, 1 not, 2 a file could not be read")]
pub(crate) struct Arguments {
    /// The dry-run result; `-` reads standard input
    result: PathBuf,
    /// The intent or merge plan that it was made from
    #[arg(long, value_name = "FILE")]
    intent: Option<PathBuf>,
    /// The evaluation result that it was made with
    #[arg(long, value_name = "FILE", requires = "intent")]
    evaluation: Option<PathBuf>,
    #[command(flatten)]
    registry: RegistryArguments,
    /// Accept a plan that the intent's budgets do not hold
    #[arg(long)]
    allow_over_budget: bool,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let file = Source::read(&arguments.result)?;
    let json = match file.parse() {
        Ok(json) => json,
        Err(issue) => {
            let issue = issue.under(dry_run_codes::DRY_RUN_INVALID);
            return report::show(&[Refusal::new(file, NonEmpty::of(issue))], console);
        }
    };
    let over_budget = if arguments.allow_over_budget { OverBudget::Allowed } else { OverBudget::Refused };
    let checked = match &arguments.intent {
        None => read_result(&json),
        Some(intent) => {
            let registry = arguments.registry.load()?;
            match inputs::read(intent, arguments.evaluation.as_deref(), registry.as_ref())? {
                Ok(source) => validate(&json, &source, registry.as_ref(), over_budget),
                Err(refusal) => return report::show(&[refusal], console),
            }
        }
    };
    let refusals: Vec<Refusal> = checked.err().map(|issues| Refusal::new(file, issues)).into_iter().collect();
    if arguments.intent.is_none() && refusals.is_empty() {
        console.say("note: without --intent the result was held against itself alone\n");
    }
    report::show(&refusals, console)
}
