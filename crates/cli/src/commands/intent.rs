//! `countersign intent`: weigh intents against each other before any of them runs.

mod diff;
mod evaluate;
mod explain;
mod graph;
pub(crate) mod overlaps;
mod seal;
mod validate;

use clap::Subcommand;

use crate::{console::Console, exit::Exit, failure::Failure};

/// Check intents, weigh a set of them, and explain what came of it
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Validate(validate::Arguments),
    Seal(seal::Arguments),
    Evaluate(evaluate::Arguments),
    Explain(explain::Arguments),
    Diff(diff::Arguments),
    Graph(graph::Arguments),
    Overlaps(overlaps::Arguments),
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Validate(arguments) => validate::run(arguments, console),
        Command::Seal(arguments) => seal::run(arguments, console),
        Command::Evaluate(arguments) => evaluate::run(arguments, console),
        Command::Explain(arguments) => explain::run(arguments, console),
        Command::Diff(arguments) => diff::run(arguments, console),
        Command::Graph(arguments) => graph::run(arguments, console),
        Command::Overlaps(arguments) => overlaps::run(arguments, console),
    }
}
