//! `countersign policy activate`: a policy comes into force.

use std::path::PathBuf;

use countersign_canon::Wire as _;
use countersign_policy::PolicyHash;
use countersign_service::{Door, api::ActivatePolicy};

use super::history::in_words;
use crate::{
    console::Console,
    embedded::{Place, Shown, owner},
    exit::Exit,
    failure::Failure,
};

/// Put the policy of the policy folder in force, or an earlier one by its hash
///
/// Rules, lattice and allow policy come into force together, as one numbered version; the log says when and by whom. Nothing
/// is fetched: a hash must be that of the folder's policy or of one that was in force before.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy activate --policy-dir policy
  countersign policy activate 1f0c6e3a3a0c4a5d9d51cf5c6d1d4c0e9f0b8a7c6d5e4f3a2b1c0d9e8f7a6b5c

Exit: 0 in force, 2 it could not be put in force")]
pub(crate) struct Arguments {
    /// The hash of the policy [default: whatever is in the folder]
    #[arg(value_name = "HASH", value_parser = PolicyHash::parse)]
    hash: Option<PolicyHash>,
    /// The folder of the three documents [default: policy/ in the folder of the store]
    #[arg(long, value_name = "DIR")]
    policy_dir: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { hash, policy_dir, place, shown } = arguments;
    let door = match policy_dir {
        Some(folder) => Door::Here(Box::new(place.open_with_policy(folder.clone())?), owner()?),
        None => place.door_or_make()?,
    };
    let activation = door.ask(ActivatePolicy { policy_hash: *hash })?;
    shown.show(console, &activation.write(), &in_words(&door, &activation)?)?;
    Ok(Exit::Yes)
}
