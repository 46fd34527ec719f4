//! The commands, one file each: arguments, help with examples, and `run`.

pub(crate) mod action;
pub(crate) mod canon;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod gate;
pub(crate) mod intent;
pub(crate) mod policy;
pub(crate) mod scan;

use clap::Subcommand;

use crate::{console::Console, exit::Exit, failure::Failure};

/// What the program can do. The order here is the order of the groups in [`GROUPS`].
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Canon(canon::Arguments),
    Action(action::Arguments),
    Policy(policy::Arguments),
    Intent(intent::Arguments),
    Scan(scan::Arguments),
    Gate(gate::Arguments),
    Demo(demo::Arguments),
    Completions(completions::Arguments),
}

/// The groups of `countersign --help`; every command is in exactly one, which a test checks.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Foundations", &["canon", "action"]),
    ("Policies", &["policy"]),
    ("Intents", &["intent"]),
    ("Repositories", &["scan"]),
    ("This program", &["gate", "demo", "completions"]),
];

/// Runs one command.
pub(crate) fn run(command: Command, console: Console) -> Result<Exit, Failure> {
    match command {
        Command::Canon(arguments) => canon::run(&arguments, console),
        Command::Action(arguments) => action::run(&arguments, console),
        Command::Scan(arguments) => scan::run(&arguments, console),
        Command::Intent(arguments) => intent::run(&arguments, console),
        Command::Gate(arguments) => gate::run(&arguments, console),
        Command::Policy(arguments) => policy::run(&arguments, console),
        Command::Demo(arguments) => demo::run(&arguments, console),
        Command::Completions(arguments) => completions::run(&arguments, console),
    }
}
