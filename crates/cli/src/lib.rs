//! Turns files and terminals into calls, and answers into text and exit codes.
//!
//! Every command is one file in `commands/`: its arguments, its help with examples, and one `run` function that
//! reads, calls a pure engine and prints. What touches the world is in `effects/`, one file for each kind.

mod actions;
mod cli;
mod commands;
mod console;
mod difference;
mod dry_run;
mod effects;
mod embedded;
mod exit;
mod failure;
mod format;
mod gates;
mod hosts;
mod intent;
mod lines;
mod policy_folder;
mod scan;
mod source;
mod yaml;

pub use crate::{
    actions::{shipped_actions, shipped_actions_lines},
    cli::command,
    exit::Exit,
    failure::{Failure, codes},
    yaml::codes as yaml_codes,
};

/// Runs the program on these arguments (the first is the program's name) and says how it ended.
pub fn run(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Exit {
    cli::run(arguments)
}

/// Ends the program as this says. A panic is a defect, and a defect is not a yes: it ends as "could not tell", which hosts
/// of hooks take for a no.
pub fn end(run: impl FnOnce() -> Exit + std::panic::UnwindSafe) -> std::process::ExitCode {
    std::panic::catch_unwind(run).unwrap_or(Exit::CouldNotTell).into()
}
