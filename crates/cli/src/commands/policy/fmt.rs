//! `countersign policy fmt`: one layout for policies, from JSON or YAML.

use std::path::PathBuf;

use countersign_canon::Wire as _;

use super::document::PolicyFile;
use crate::{console::Console, effects::files, exit::Exit, failure::Failure};

/// Print a policy as formatted JSON, the source of truth; YAML comes in, JSON goes out
///
/// Rules stand in the order in which they decide. The meaning, and so the policy_hash, stays the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy fmt --in team.yaml --out policy/odeu.instructions.v1.json
  countersign policy fmt --in policy/odeu.instructions.v1.json --check

Exit: 0 formatted, 1 the policy is invalid or --check found another layout, 2 a file could not be read or written")]
pub(super) struct Arguments {
    /// The policy, as JSON or YAML; `-` reads JSON from standard input
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// Write here instead of to standard output
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    out: Option<PathBuf>,
    /// Print nothing; fail if the file is not formatted like this
    #[arg(long)]
    check: bool,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let file = PolicyFile::read(&arguments.input)?;
    let policy = match file.policy() {
        Ok(policy) => policy,
        Err(issues) => return Err(Failure::Refused { source: file.source, issues }),
    };
    let text = policy.to_document().write().to_pretty();
    if arguments.check {
        let is_formatted = file.source.bytes == text.as_bytes();
        if !is_formatted {
            console.say(&format!("{} is not formatted; run `countersign policy fmt`\n", file.source.name));
        }
        return Ok(if is_formatted { Exit::Yes } else { Exit::No });
    }
    match &arguments.out {
        Some(path) => files::write(path, text.as_bytes()).map_err(Failure::CouldNotTell)?,
        None => console.data(&text)?,
    }
    Ok(Exit::Yes)
}
