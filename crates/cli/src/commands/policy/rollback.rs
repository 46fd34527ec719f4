//! `countersign policy rollback`: an earlier policy comes back into force.

use countersign_canon::Wire as _;
use countersign_ledger::VersionNumber;
use countersign_service::api::RollBackPolicy;

use super::history::in_words;
use crate::{
    console::Console,
    embedded::{Place, Shown, usage},
    exit::Exit,
    failure::Failure,
};

/// Put an earlier policy version back in force
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy rollback 1

Exit: 0 in force, 2 there is no such version")]
pub(crate) struct Arguments {
    /// The version, as `countersign policy history` lists it
    version: i64,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { version, place, shown } = arguments;
    let version = VersionNumber::new(*version).ok_or_else(|| usage("versions are numbered from 1"))?;
    let door = place.door()?;
    let activation = door.ask(RollBackPolicy { version })?;
    shown.show(console, &activation.write(), &in_words(&door, &activation)?)?;
    Ok(Exit::Yes)
}
