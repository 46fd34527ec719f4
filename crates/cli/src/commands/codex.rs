//! `countersign codex`: Codex itself, governed.

mod app_server;
mod exec;

use clap::Subcommand;

use crate::{console::Console, exit::Exit, failure::Failure};

/// Run Codex governed: its app-server for a client, or a worker
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    AppServer(app_server::Arguments),
    Exec(Box<exec::Arguments>),
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::AppServer(arguments) => app_server::run(arguments, console),
        Command::Exec(arguments) => exec::run(arguments, console),
    }
}
