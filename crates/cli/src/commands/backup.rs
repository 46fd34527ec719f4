//! `countersign backup`: a copy of the store while it is in use.

use std::path::PathBuf;

use countersign_service::ServiceError;

use crate::{console::Console, embedded::Place, exit::Exit, failure::Failure};

/// Copy the store to a new file, while it is in use
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign backup state-monday.db

Exit: 0 copied, 2 it could not be")]
pub(crate) struct Arguments {
    /// The file, which must not be there yet
    target: PathBuf,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let node = arguments.place.open()?;
    node.store().back_up(&arguments.target).map_err(ServiceError::from)?;
    console.say(&format!("copied to `{}`\n", arguments.target.display()));
    Ok(Exit::Yes)
}
