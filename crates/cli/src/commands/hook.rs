//! `countersign hook`: answers the hook of an agent's host.

use std::{ffi::OsStr, path::PathBuf};

use clap::ValueEnum;
use countersign_action::Host;

use crate::{
    console::Console,
    exit::Exit,
    hosts::hook::{self, Said},
};

/// Answer the hook of an agent's host: may this call begin?
///
/// Reads the host's JSON on standard input. A call that may begin: exit 0, silence. One that may not: exit 2, the reason on
/// standard error. Everything that goes wrong, and two seconds without a decision, is a no. `countersign install` sets it up.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign hook claude-code < call.json
  countersign hook codex --workspace /srv/shop < call.json

Exit: 0 nothing against it, 2 no")]
pub(crate) struct Arguments {
    /// Whose hook it is
    #[arg(value_enum)]
    host: HostName,
    /// The folder that the agent works on [default: what the host says]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
}

impl Arguments {
    /// Just the name of a host; nothing if it is not one.
    pub(crate) fn of_host(name: &OsStr) -> Option<Self> {
        let is_it = |host: &&HostName| host.to_possible_value().is_some_and(|value| value.get_name() == name);
        let host = *HostName::value_variants().iter().find(is_it)?;
        Some(Self { host, workspace: None })
    }
}

/// The hosts by their names on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum HostName {
    ClaudeCode,
    Codex,
    Gemini,
}

impl From<HostName> for Host {
    fn from(name: HostName) -> Self {
        match name {
            HostName::ClaudeCode => Self::ClaudeCode,
            HostName::Codex => Self::Codex,
            HostName::Gemini => Self::Gemini,
        }
    }
}

pub(crate) fn run(arguments: Arguments, console: Console) -> Exit {
    match hook::answer(arguments.host.into(), arguments.workspace) {
        Said::Nothing => Exit::Yes,
        Said::No(words) => {
            console.say(&words);
            Exit::Blocked
        }
    }
}
