//! `countersign dry-run`: what an intent would do, without doing it.

mod explain;
mod plan;
mod validate;

use clap::Subcommand;

use crate::{console::Console, exit::Exit, failure::Failure};

/// Plan an intent without doing anything: order of work, files, commits, who must look
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Plan(plan::Arguments),
    Explain(explain::Arguments),
    Validate(validate::Arguments),
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Plan(arguments) => plan::run(arguments, console),
        Command::Explain(arguments) => explain::run(arguments, console),
        Command::Validate(arguments) => validate::run(arguments, console),
    }
}
