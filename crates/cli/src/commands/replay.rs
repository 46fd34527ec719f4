//! `countersign replay`: a stored decision is made again.

use countersign_canon::{Json, Value};
use countersign_ledger::DecisionId;

use crate::{
    console::Console,
    embedded::{Place, Shown},
    exit::Exit,
    failure::Failure,
};

/// Decide a stored decision again, from its own facts and policy, and compare the bytes
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign replay dec_0123

Exit: 0 the same bytes, 1 they differ, 2 there is no such decision")]
pub(crate) struct Arguments {
    /// The decision
    #[arg(value_parser = DecisionId::parse)]
    decision: DecisionId,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let (record, same) = arguments.place.open()?.redecide(&arguments.decision)?;
    let code = record.trace.get("decision_code").and_then(Json::as_str).unwrap_or_default().to_owned();
    let word = match &same {
        Ok(()) => "the same bytes".to_owned(),
        Err(difference) => difference.clone(),
    };
    let json = Json::object([
        ("same", Json::from(same.is_ok())),
        ("finding", Json::from(word.clone())),
        ("trace", Json::from(Value::Object(record.trace))),
    ]);
    arguments.shown.show(console, &json, &format!("{} {code}: {word}", record.decision_id))?;
    Ok(if same.is_ok() { Exit::Yes } else { Exit::No })
}
