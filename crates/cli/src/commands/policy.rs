//! `countersign policy`: everything that can be done with a policy, up to putting it in force.

mod activate;
mod backtest;
mod coverage;
mod diff;
mod document;
mod eval;
mod explain;
mod facts;
mod fmt;
mod hash;
mod history;
mod prove;
mod proved;
mod render;
mod rollback;
mod schema;
mod test;
mod validate;

use clap::Subcommand;

use crate::{console::Console, exit::Exit, failure::Failure};

/// Check, explain, compare, test and render policies, and put them in force
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Validate(validate::Arguments),
    Hash(hash::Arguments),
    Fmt(fmt::Arguments),
    Eval(eval::Arguments),
    Explain(explain::Arguments),
    Diff(diff::Arguments),
    Prove(Box<prove::Arguments>),
    Test(test::Arguments),
    Coverage(Box<coverage::Arguments>),
    Backtest(Box<backtest::Arguments>),
    Render(render::Arguments),
    Schema(schema::Arguments),
    Activate(Box<activate::Arguments>),
    Rollback(rollback::Arguments),
    History(history::Arguments),
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Validate(arguments) => validate::run(arguments, console),
        Command::Hash(arguments) => hash::run(arguments, console),
        Command::Fmt(arguments) => fmt::run(arguments, console),
        Command::Eval(arguments) => eval::run(arguments, console),
        Command::Explain(arguments) => explain::run(arguments, console),
        Command::Diff(arguments) => diff::run(arguments, console),
        Command::Prove(arguments) => prove::run(arguments, console),
        Command::Test(arguments) => test::run(arguments, console),
        Command::Coverage(arguments) => coverage::run(arguments, console),
        Command::Backtest(arguments) => backtest::run(arguments, console),
        Command::Render(arguments) => render::run(arguments, console),
        Command::Schema(arguments) => schema::run(*arguments, console),
        Command::Activate(arguments) => activate::run(arguments, console),
        Command::Rollback(arguments) => rollback::run(arguments, console),
        Command::History(arguments) => history::run(arguments, console),
    }
}
