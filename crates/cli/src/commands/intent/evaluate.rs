//! `countersign intent evaluate`: a set in; result, merge plan and questions out.

use std::path::PathBuf;

use countersign_canon::{NonEmpty, Timestamp, Wire};
use countersign_intent::{
    EvaluateOptions, IntentSet, Limits, Money, Outcome, Registry, evaluate, explain_text, read_answer_pack,
    wire::{AnswerPack, Strategy},
};

use crate::{
    console::Console,
    effects::folder,
    exit::Exit,
    failure::Failure,
    intent::{
        registry::RegistryArguments,
        report::{self, Refusal},
        set::SetArguments,
    },
    source::Source,
};

/// Weigh a set of intents: every conflict, what becomes of the set, how risks compare, what must be asked
///
/// Prints the result and, with --out, writes evaluation_result.json, merge_plan.json and, if the set is rejected,
/// question_pack.json. The same input gives the same bytes: without --now the documents carry the set's own time.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign intent evaluate batch/intent_set_api.json
  countersign intent evaluate batch/intent_set_api.json --out decided
  countersign intent evaluate batch/intent_set_api.json --answers answers.json --out decided

Exit: 0 merged (union or override), 3 rejected with questions, 1 invalid input, 2 usage or I/O")]
pub(crate) struct Arguments {
    #[command(flatten)]
    set: SetArguments,
    #[command(flatten)]
    registry: RegistryArguments,
    /// An answer pack; give the option again for answers to what was asked after the first
    #[arg(long, value_name = "FILE")]
    answers: Vec<PathBuf>,
    /// Write the documents to this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The time that the documents carry, instead of the set's
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    now: Option<Timestamp>,
    /// How many dollars the intents may spend together
    #[arg(long, value_name = "DOLLARS", default_value_t = 100)]
    max_cost_usd: u64,
    /// How many tokens the intents may use together
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000)]
    max_tokens: i64,
}

fn read_time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|issue| issue.message.clone())
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let registry = arguments.registry.load()?;
    let set = match arguments.set.load(registry.as_ref())? {
        Ok(set) => set,
        Err(refusals) => return report::show(&refusals, console),
    };
    let answers = match read_answers(&arguments.answers)? {
        Ok(answers) => answers,
        Err(refusals) => return report::show(&refusals, console),
    };
    let outcome = match weigh(arguments, &set, registry.as_ref(), &answers) {
        Ok(outcome) => outcome,
        Err(issues) => {
            let source = Source::read(arguments.answers.last().unwrap_or(&arguments.set.set))?;
            return report::show(&[Refusal::new(source, issues)], console);
        }
    };
    write(arguments, &outcome)?;
    console.data(&outcome.result.write().to_pretty())?;
    console.say(&explain_text(&outcome.result));
    Ok(match outcome.plan.strategy {
        Strategy::MergeUnion | Strategy::OverrideByPriority => Exit::Yes,
        Strategy::Reject => Exit::Ask,
    })
}

fn weigh(
    arguments: &Arguments,
    set: &IntentSet,
    registry: Option<&Registry>,
    answers: &[AnswerPack],
) -> Result<Outcome, NonEmpty<countersign_canon::Issue>> {
    let limits = Limits { cost_usd: Money::dollars(arguments.max_cost_usd), tokens: arguments.max_tokens };
    let created_at = arguments.now.unwrap_or(set.document().created_at);
    evaluate(set, EvaluateOptions { registry, limits, created_at, answers })
}

fn read_answers(paths: &[PathBuf]) -> Result<Result<Vec<AnswerPack>, Vec<Refusal>>, Failure> {
    let (mut packs, mut refusals) = (Vec::new(), Vec::new());
    for path in paths {
        let source = Source::read(path)?;
        let read = match source.parse() {
            Ok(json) => read_answer_pack(&json),
            Err(issue) => Err(NonEmpty::of(issue)),
        };
        match read {
            Ok(pack) => packs.push(pack),
            Err(issues) => refusals.push(Refusal::new(source, issues)),
        }
    }
    Ok(if refusals.is_empty() { Ok(packs) } else { Err(refusals) })
}

fn write(arguments: &Arguments, outcome: &Outcome) -> Result<(), Failure> {
    let Some(out) = &arguments.out else { return Ok(()) };
    let documents = [
        ("evaluation_result.json", Some(outcome.result.write())),
        ("merge_plan.json", Some(outcome.plan.write())),
        ("question_pack.json", outcome.questions.as_ref().map(Wire::write)),
    ];
    for (name, document) in documents {
        if let Some(document) = document {
            folder::put(&out.join(name), &document.to_pretty()).map_err(Failure::CouldNotTell)?;
        }
    }
    Ok(())
}
