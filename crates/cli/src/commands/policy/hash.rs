//! `countersign policy hash`: the name of what a policy means.

use std::path::PathBuf;

use super::document::load;
use crate::{console::Console, exit::Exit, failure::Failure};

/// Print the policy_hash: the same for policies that mean the same
///
/// Messages, examples, comments, the order of rules and the layout of the file are no part of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy hash --in policy/odeu.instructions.v1.json
  countersign policy hash --in policy/odeu.instructions.v1.json --form | sha256sum

Exit: 0 printed, 1 the policy is invalid, 2 it could not be read")]
pub(super) struct Arguments {
    /// The policy, as JSON or YAML; `-` reads JSON from standard input
    #[arg(long = "in", value_name = "FILE")]
    input: PathBuf,
    /// Print the bytes that are hashed instead
    #[arg(long)]
    form: bool,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let policy = load(&arguments.input)?;
    let text =
        if arguments.form { policy.semantic_form().to_canonical() } else { format!("{}\n", policy.hash()) };
    console.data(&text)?;
    Ok(Exit::Yes)
}
