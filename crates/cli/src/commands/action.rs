//! `countersign action`: what an agent is about to do, and the one recipe that names it.

mod classify;

use std::path::PathBuf;

use clap::Subcommand;
use countersign_canon::Json;
use countersign_policy::{ActionKind, action_hash};

use crate::{
    console::Console,
    exit::Exit,
    failure::{Failure, codes},
    format::Format,
    source::Source,
};

/// Show what a tool call does, and how an action is named by its hash
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Hash(HashArguments),
    Classify(classify::Arguments),
}

/// Print the hash of an action: SHA-256 of the canonical form of {action_kind, action_payload}
///
/// Approvals are bound to this hash, and so is the policy atom action_hash_matches.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign action hash --kind deploy --payload deploy.json
  echo '{\"path\":\"README.md\"}' | countersign action hash --kind fs.write --payload - --format json

Exit: 0 printed, 1 the payload was refused, 2 the kind is not one or the payload could not be read")]
struct HashArguments {
    /// The kind of action, such as fs.write or deploy
    #[arg(long)]
    kind: String,
    /// The action's payload, a JSON document; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    payload: PathBuf,
    /// The hash alone, or an object with the action as well
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Hash(arguments) => hash(arguments, console),
        Command::Classify(arguments) => classify::run(arguments, console),
    }
}

fn hash(arguments: &HashArguments, console: Console) -> Result<Exit, Failure> {
    let kind = ActionKind::parse(&arguments.kind)
        .map_err(|issue| Failure::CouldNotTell(issue.under(codes::CLI_USAGE)))?;
    let source = Source::read(&arguments.payload)?;
    let payload = match source.parse() {
        Ok(payload) => payload,
        Err(issue) => return Err(Failure::refused(source, issue)),
    };
    let hash = action_hash(&kind, &payload).to_string();
    let text = match arguments.format {
        Format::Text => format!("{hash}\n"),
        Format::Json => Json::object([
            ("action_hash", Json::from(hash.as_str())),
            ("action_kind", Json::from(kind.as_str())),
            ("action_payload", payload),
        ])
        .to_pretty(),
    };
    console.data(&text)?;
    Ok(Exit::Yes)
}
