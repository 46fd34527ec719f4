//! `countersign proof`: certificates, checked without believing who made them.

mod check;
mod export;

use clap::Subcommand;

use crate::{console::Console, exit::Exit, failure::Failure};

/// Check certificates of what was proved about a policy
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Arguments),
    Export(export::Arguments),
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments, console),
        Command::Export(arguments) => export::run(arguments, console),
    }
}
