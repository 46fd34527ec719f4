//! `countersign dry-run plan`: an intent in, what it would do out, in a folder that is no source tree.

use std::path::PathBuf;

use countersign_canon::{Issue, Json, NonEmpty, Timestamp, Wire};
use countersign_dryrun::{OverBudget, PlanOptions, explain_text, plan};
use countersign_service::now;

use crate::{
    console::Console,
    dry_run::{
        inputs,
        out::{OutFolder, Written},
    },
    exit::Exit,
    failure::{Failure, codes},
    intent::{
        registry::RegistryArguments,
        report::{self, Refusal},
    },
    source::Source,
};

/// Plan what an intent would do, and do none of it
///
/// Writes one document, named after its id, to --out and nowhere else: the order of work with its reviews, the files, the
/// commits, and what a reviewer starts from. INTENT may be a merge plan: its result intent is planned. The same intent
/// gives the same document but for its time, and with --now the same bytes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign dry-run plan intent_add_logging.json --out ../plans
  countersign dry-run plan decided/merge_plan.json --evaluation decided/evaluation_result.json --out ../plans

Exit: 0 planned, 1 refused (codes on standard error, a report on standard output), 2 usage or I/O")]
pub(crate) struct Arguments {
    /// The intent or merge plan; `-` reads standard input
    intent: PathBuf,
    /// The folder for the result; never one that lies in a source tree
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The evaluation result that chose this intent
    #[arg(long, value_name = "FILE")]
    evaluation: Option<PathBuf>,
    #[command(flatten)]
    registry: RegistryArguments,
    /// Plan also what the intent's budgets do not hold, and say so in the result
    #[arg(long)]
    allow_over_budget: bool,
    /// The time that the result carries, instead of the time of day
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    now: Option<Timestamp>,
}

fn read_time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|issue| issue.message.clone())
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let registry = arguments.registry.load()?;
    let source = match inputs::read(&arguments.intent, arguments.evaluation.as_deref(), registry.as_ref())? {
        Ok(source) => source,
        Err(refusal) => return report::show(&[refusal], console),
    };
    let folder = match OutFolder::find(&arguments.out) {
        Ok(folder) => folder,
        Err(issue) => return refused(arguments, issue, console),
    };
    let options = PlanOptions {
        registry: registry.as_ref(),
        created_at: arguments.now.map_or_else(now, Ok)?,
        over_budget: if arguments.allow_over_budget { OverBudget::Allowed } else { OverBudget::Refused },
    };
    let result = match plan(&source, options) {
        Ok(result) => result,
        Err(issues) => {
            return report::show(&[Refusal::new(Source::read(&arguments.intent)?, issues)], console);
        }
    };
    let (path, written) = match folder.put(&format!("{}.json", result.result_id), &result.write()) {
        Ok(written) => written,
        Err(issue) if issue.code == codes::DRY_RUN_OUT_EXISTS => return refused(arguments, issue, console),
        Err(issue) => return Err(Failure::CouldNotTell(issue)),
    };
    console.say(&explain_text(&result));
    if written == Written::Before {
        console.say("note: the same result was there already, and stays as it is\n");
    }
    let report = Json::object([
        ("valid", Json::from(true)),
        ("issues", Json::from(Vec::new())),
        ("result_id", result.result_id.write()),
        ("checksum", result.checksum.write()),
        ("file", Json::from(path.display().to_string())),
    ]);
    console.data(&report.to_pretty())?;
    Ok(Exit::Yes)
}

fn refused(arguments: &Arguments, issue: Issue, console: Console) -> Result<Exit, Failure> {
    let folder = Source { name: arguments.out.display().to_string(), bytes: Vec::new() };
    report::show(&[Refusal::new(folder, NonEmpty::of(issue))], console)
}
