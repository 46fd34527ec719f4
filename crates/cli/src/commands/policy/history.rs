//! `countersign policy history`: which policy was in force when, by whom.

use countersign_canon::{Json, Wire as _};
use countersign_ledger::Activation;
use countersign_service::{
    Door,
    api::{ActivationView, ListActivations},
};

use crate::{
    console::Console,
    embedded::{Place, Shown},
    exit::Exit,
    failure::Failure,
};

/// List which policy was in force when, by whom; the last one is in force
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy history
  countersign policy history --format json

Exit: 0 listed, 2 the store could not be read")]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let activations = arguments.place.door()?.ask(ListActivations {})?.activations;
    let lines: Vec<String> = activations.iter().map(line).collect();
    let json = Json::array(activations.iter().map(ActivationView::write));
    arguments.shown.show(console, &json, &lines.join("\n"))?;
    Ok(Exit::Yes)
}

fn line(activation: &ActivationView) -> String {
    let ActivationView { number, version, policy_hash, activated_at, activated_by } = activation;
    format!("{} version {} {activated_at} {activated_by} {policy_hash}", number.get(), version.get())
}

/// An activation on one line.
pub(super) fn in_words(door: &Door, activation: &Activation) -> Result<String, Failure> {
    let listed = door.ask(ListActivations {})?.activations;
    let found = listed.iter().find(|listed| listed.number == activation.number);
    Ok(found.map(line).unwrap_or_default())
}
