//! `countersign policy history`: which policy was in force when, by whom.

use countersign_canon::{Json, Wire as _};
use countersign_ledger::Activation;
use countersign_service::{Node, ServiceError};

use crate::{
    console::Console,
    embedded::{Place, Shown},
    exit::Exit,
    failure::Failure,
};

/// List which policy was in force when, by whom; the last one is in force
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let node = arguments.place.open()?;
    let activations = node.store().activations().map_err(ServiceError::from)?;
    let lines: Vec<String> = activations.iter().map(|it| in_words(&node, it)).collect::<Result<_, _>>()?;
    let json = Json::array(activations.iter().map(Activation::write));
    arguments.shown.show(console, &json, &lines.join("\n"))?;
    Ok(Exit::Yes)
}

/// An activation on one line.
pub(super) fn in_words(node: &Node, activation: &Activation) -> Result<String, Failure> {
    let Activation { number, version, activated_at, activated_by } = activation;
    let stored = node.store().policy_version(*version).map_err(ServiceError::from)?;
    let hash = stored.map_or_else(String::new, |version| version.policy_hash.to_string());
    Ok(format!("{} version {} {activated_at} {activated_by} {hash}", number.get(), version.get()))
}
