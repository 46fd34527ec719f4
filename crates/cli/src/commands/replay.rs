//! `countersign replay`: a stored decision is made again.

use countersign_canon::{Json, Wire as _};
use countersign_ledger::DecisionId;
use countersign_service::api::ReplayDecision;

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
    let decision_id = arguments.decision.clone();
    let replayed = arguments.place.door()?.ask(ReplayDecision { decision_id })?;
    let code = replayed.trace.get("decision_code").and_then(Json::as_str).unwrap_or_default();
    let text = format!("{} {code}: {}", arguments.decision, replayed.finding);
    arguments.shown.show(console, &replayed.write(), &text)?;
    Ok(if replayed.same { Exit::Yes } else { Exit::No })
}
