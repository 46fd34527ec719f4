//! `countersign trace`: one line of hashes from the question to the outcome.

use countersign_canon::{Json, Text, Wire as _};
use countersign_service::api::{TraceId, TracedEvent};

use crate::{
    console::Console,
    embedded::{Place, Shown, usage},
    exit::Exit,
    failure::Failure,
};

/// Show everything that hangs together with a decision, an approval, a permit or an action hash
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign trace apr_0123
  countersign trace 83648aa56845bf158042791c589e6c6d99a03855238c8a1f5ceeedc953453014

Exit: 0 shown, 1 nothing has this id, 2 the store could not be read")]
pub(crate) struct Arguments {
    /// An id of any kind, or an action hash
    id: String,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let id = Text::new(arguments.id.clone()).ok_or_else(|| usage("an id has 1 to 128 characters"))?;
    let traced = arguments.place.door()?.ask(TraceId { id })?;
    let lines = traced.events.iter().map(|TracedEvent { log_index, event }| {
        let text = |key: &str| event.detail.get(key).and_then(Json::as_str).unwrap_or_default();
        let ids = ["permit_id", "approval_id", "decision_id"].map(text);
        let id = ids.into_iter().find(|id| !id.is_empty()).unwrap_or_default();
        let word = if text("state").is_empty() { text("decision_code") } else { text("state") };
        format!("{:>6} {} {} {word} {id}", log_index.get(), event.ts, event.event)
    });
    let lines: Vec<String> = lines.collect();
    arguments.shown.show(console, &traced.write(), &lines.join("\n"))?;
    Ok(if traced.events.is_empty() { Exit::No } else { Exit::Yes })
}
