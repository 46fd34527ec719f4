//! The commands, one file each: arguments, help with examples, and `run`.

pub(crate) mod action;
pub(crate) mod approve;
pub(crate) mod backup;
pub(crate) mod canon;
pub(crate) mod codex;
pub(crate) mod completions;
pub(crate) mod decide;
pub(crate) mod demo;
pub(crate) mod deny;
pub(crate) mod doctor;
pub(crate) mod dry_run;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod gate;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod intent;
pub(crate) mod keys;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod outcome;
pub(crate) mod pending;
pub(crate) mod policy;
pub(crate) mod probe;
pub(crate) mod proof;
pub(crate) mod replay;
pub(crate) mod revoke;
pub(crate) mod scan;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod token;
pub(crate) mod trace;
pub(crate) mod uninstall;
pub(crate) mod up;
pub(crate) mod verify;

use clap::Subcommand;

use crate::{console::Console, exit::Exit, failure::Failure};

/// What the program can do. The order here is the order of the groups in [`GROUPS`].
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Canon(canon::Arguments),
    Action(action::Arguments),
    Policy(policy::Arguments),
    Proof(proof::Arguments),
    Intent(intent::Arguments),
    DryRun(dry_run::Arguments),
    Scan(scan::Arguments),
    Up(Box<up::Arguments>),
    Serve(Box<serve::Arguments>),
    Init(init::Arguments),
    Install(install::Arguments),
    Uninstall(uninstall::Arguments),
    Hook(hook::Arguments),
    Mcp(mcp::Arguments),
    Probe(probe::Arguments),
    Codex(codex::Arguments),
    Export(export::Arguments),
    Session(session::Arguments),
    Decide(decide::Arguments),
    Pending(pending::Arguments),
    Approve(approve::Arguments),
    Deny(deny::Arguments),
    Revoke(revoke::Arguments),
    Outcome(outcome::Arguments),
    Keys(keys::Arguments),
    Token(token::Arguments),
    Events(events::Arguments),
    Log(log::Arguments),
    Verify(verify::Arguments),
    Replay(replay::Arguments),
    Trace(trace::Arguments),
    Backup(backup::Arguments),
    Doctor(doctor::Arguments),
    Gate(gate::Arguments),
    Demo(demo::Arguments),
    Completions(completions::Arguments),
}

/// The groups of `countersign --help`; every command is in exactly one, which a test checks.
pub(crate) const GROUPS: &[(&str, &[&str])] = &[
    ("Foundations", &["canon", "action"]),
    ("Policies", &["policy", "proof"]),
    ("Intents", &["intent", "dry-run"]),
    ("Repositories", &["scan"]),
    ("The service", &["up", "serve"]),
    ("Agents", &["init", "install", "uninstall", "hook", "mcp", "probe", "codex", "export"]),
    ("Decisions", &["session", "decide", "pending", "approve", "deny", "revoke", "outcome", "keys", "token"]),
    ("Evidence", &["events", "log", "verify", "replay", "trace", "backup", "doctor"]),
    ("This program", &["gate", "demo", "completions"]),
];

/// Runs one command.
pub(crate) fn run(command: Command, console: Console) -> Result<Exit, Failure> {
    match command {
        Command::Canon(arguments) => canon::run(&arguments, console),
        Command::Action(arguments) => action::run(&arguments, console),
        Command::Scan(arguments) => scan::run(&arguments, console),
        Command::Intent(arguments) => intent::run(&arguments, console),
        Command::DryRun(arguments) => dry_run::run(&arguments, console),
        Command::Gate(arguments) => gate::run(&arguments, console),
        Command::Policy(arguments) => policy::run(&arguments, console),
        Command::Proof(arguments) => proof::run(&arguments, console),
        Command::Up(arguments) => up::run(&arguments, console),
        Command::Serve(arguments) => serve::run(&arguments, console),
        Command::Init(arguments) => init::run(&arguments, console),
        Command::Install(arguments) => install::run(&arguments, console),
        Command::Uninstall(arguments) => uninstall::run(&arguments, console),
        Command::Hook(arguments) => Ok(hook::run(arguments, console)),
        Command::Probe(arguments) => probe::run(&arguments, console),
        Command::Mcp(arguments) => mcp::run(&arguments, console),
        Command::Codex(arguments) => codex::run(&arguments, console),
        Command::Export(arguments) => export::run(&arguments, console),
        Command::Session(arguments) => session::run(&arguments, console),
        Command::Decide(arguments) => decide::run(&arguments, console),
        Command::Pending(arguments) => pending::run(&arguments, console),
        Command::Approve(arguments) => approve::run(&arguments, console),
        Command::Deny(arguments) => deny::run(&arguments, console),
        Command::Revoke(arguments) => revoke::run(&arguments, console),
        Command::Outcome(arguments) => outcome::run(&arguments, console),
        Command::Keys(arguments) => keys::run(&arguments, console),
        Command::Token(arguments) => token::run(&arguments, console),
        Command::Events(arguments) => events::run(&arguments, console),
        Command::Log(arguments) => log::run(&arguments, console),
        Command::Verify(arguments) => verify::run(&arguments, console),
        Command::Replay(arguments) => replay::run(&arguments, console),
        Command::Trace(arguments) => trace::run(&arguments, console),
        Command::Backup(arguments) => backup::run(&arguments, console),
        Command::Doctor(arguments) => doctor::run(&arguments, console),
        Command::Demo(arguments) => demo::run(&arguments, console),
        Command::Completions(arguments) => completions::run(&arguments, console),
    }
}
