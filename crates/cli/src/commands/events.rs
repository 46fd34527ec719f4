//! `countersign events`: what happened, in order.

use std::{collections::BTreeMap, path::PathBuf};

use clap::Subcommand;
use countersign_canon::{Issue, Json};
use countersign_ledger::StreamId;
use countersign_service::{Difference, StreamCheck, StreamFault, Tail};

use crate::{
    console::Console,
    embedded::{Place, Shown, lines},
    exit::Exit,
    failure::Failure,
};

/// Show, check, count and replay events
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Tail(TailArguments),
    Validate(ValidateArguments),
    Summary(SummaryArguments),
    Replay(ReplayArguments),
}

/// Print events, one JSON object a line
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign events tail
  countersign events tail --stream copilot:ses_0123 --after-seq 4
  countersign events tail --follow --url unix:.countersign/service.sock

Exit: 0 printed, 2 the store could not be read")]
struct TailArguments {
    /// One stream, instead of the whole log
    #[arg(long, value_parser = StreamId::parse)]
    stream: Option<StreamId>,
    /// Only what comes after this place in the stream, or in the log, both counted from 1
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after_seq: i64,
    /// Go on when there are no more, until interrupted
    #[arg(long)]
    follow: bool,
    #[command(flatten)]
    place: Place,
}

/// Check events, one JSON object a line: every envelope valid, every stream without a gap
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign events tail | countersign events validate -
  countersign events tail --stream worker:ses_0123 | countersign events validate --strict -

Exit: 0 valid, 1 not valid, 2 the file could not be read")]
struct ValidateArguments {
    /// The events; `-` reads standard input
    file: PathBuf,
    /// Whole streams only: each from its first event, a session's or run's from its start, and never back in time
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    shown: Shown,
}

/// Count events by kind and decisions by code
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign events summary
  countersign events summary --format json

Exit: 0 counted, 2 the store could not be read")]
struct SummaryArguments {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

/// Rebuild sessions, approvals and executions from the events alone, and compare them with the store
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign events replay

Exit: 0 the events tell what the store says, 1 they differ, 2 the store could not be read")]
struct ReplayArguments {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Tail(arguments) => tail(arguments, console),
        Command::Validate(arguments) => validate(arguments, console),
        Command::Summary(arguments) => summary(arguments, console),
        Command::Replay(arguments) => replay(arguments, console),
    }
}

fn tail(arguments: &TailArguments, console: Console) -> Result<Exit, Failure> {
    let TailArguments { stream, after_seq, follow, place } = arguments;
    let tail = Tail { stream: stream.clone(), after_seq: *after_seq, follow: *follow };
    place.door()?.events(&tail, &mut |line| console.bytes(line))?;
    Ok(Exit::Yes)
}

fn validate(arguments: &ValidateArguments, console: Console) -> Result<Exit, Failure> {
    let mut check = if arguments.strict { StreamCheck::strict() } else { StreamCheck::default() };
    let mut faults: Vec<StreamFault> = Vec::new();
    for line in lines(&arguments.file)? {
        faults.extend(check.line(&line).err().unwrap_or_default());
    }
    let rows = faults.iter().map(|StreamFault { line, issue }| {
        let members = issue.to_json().as_object().map(|it| it.members().to_vec()).unwrap_or_default();
        let members = members.into_iter().map(|member| (member.key, member.value));
        Json::object(members.chain([("line".into(), number(*line))]))
    });
    let valid = faults.is_empty();
    let json = Json::object([
        ("schema", Json::from("urm-events-validate@1")),
        ("valid", Json::from(valid)),
        ("events", number(check.lines())),
        ("issues", Json::array(rows)),
    ]);
    let mut text: Vec<String> = faults.iter().map(|fault| in_words(fault.line, &fault.issue)).collect();
    text.push(format!("{} events, {} problems", check.lines(), faults.len()));
    arguments.shown.show(console, &json, &text.join("\n"))?;
    Ok(if valid { Exit::Yes } else { Exit::No })
}

fn in_words(line: u64, issue: &Issue) -> String {
    format!("line {line} {}: {} {issue}", issue.pointer, issue.code)
}

fn summary(arguments: &SummaryArguments, console: Console) -> Result<Exit, Failure> {
    let node = arguments.place.open()?;
    let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
    let mut decisions: BTreeMap<String, u64> = BTreeMap::new();
    node.each_event(&mut |_, event| {
        let add = |counts: &mut BTreeMap<String, u64>, key: &str| {
            let count = counts.entry(key.to_owned()).or_default();
            *count = count.saturating_add(1);
        };
        add(&mut kinds, event.event.as_str());
        if event.detail.get("decision_hash").is_some() {
            add(&mut decisions, event.detail.get("decision_code").and_then(Json::as_str).unwrap_or_default());
        }
        Ok::<(), Failure>(())
    })?;
    let counts = |counts: &BTreeMap<String, u64>| {
        Json::object(counts.iter().map(|(key, count)| (key.clone(), number(*count))))
    };
    let json = Json::object([("events", counts(&kinds)), ("decisions", counts(&decisions))]);
    let mut text = String::new();
    for (title, counts) in [("events", &kinds), ("decisions", &decisions)] {
        text.push_str(&format!("{title}\n"));
        counts.iter().for_each(|(key, count)| text.push_str(&format!("  {count:>7} {key}\n")));
    }
    arguments.shown.show(console, &json, &text)?;
    Ok(Exit::Yes)
}

fn replay(arguments: &ReplayArguments, console: Console) -> Result<Exit, Failure> {
    let differences = arguments.place.open()?.replay_events()?;
    let rows = differences.iter().map(|Difference { what, events, store }| {
        let text = |text: &String| Json::from(text.clone());
        Json::object([("what", text(what)), ("events", text(events)), ("store", text(store))])
    });
    let json = Json::object([("differences", Json::array(rows))]);
    let line =
        |it: &Difference| format!("{}: the events say {}, the store says {}", it.what, it.events, it.store);
    let mut text: Vec<String> = differences.iter().map(line).collect();
    if differences.is_empty() {
        text.push("the events tell what the store says".to_owned());
    }
    arguments.shown.show(console, &json, &text.join("\n"))?;
    Ok(if differences.is_empty() { Exit::Yes } else { Exit::No })
}

fn number(number: u64) -> Json<'static> {
    Json::from(u32::try_from(number).unwrap_or(u32::MAX))
}
