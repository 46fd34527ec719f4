//! `countersign policy render`: the views of a policy for people (K3).

use std::path::PathBuf;

use countersign_policy::{agents_view, skills_view};

use super::document::load;
use crate::{console::Console, difference::difference, effects::files, exit::Exit, failure::Failure};

/// Write the two views of a policy that people and agents read, or check that they are current
///
/// The views inform; the policy decides. They are made of bytes that depend on the policy alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy render
  countersign policy render --check

Exit: 0 written or current, 1 --check found a difference or the policy is invalid, 2 a file could not be read or written")]
pub(super) struct Arguments {
    /// The policy, as JSON or YAML
    #[arg(long = "in", value_name = "FILE", default_value = "policy/odeu.instructions.v1.json")]
    input: PathBuf,
    /// The folder of the views
    #[arg(long, value_name = "FOLDER", default_value = "docs/generated")]
    out: PathBuf,
    /// Write nothing; compare, and show what differs
    #[arg(long)]
    check: bool,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let policy = load(&arguments.input)?;
    let source = arguments.input.display().to_string();
    let views = [
        ("AGENTS_POLICY_VIEW.md", agents_view(&policy, &source)),
        ("SKILLS_POLICY_VIEW.md", skills_view(&policy, &source)),
    ];
    let mut is_current = true;
    for (name, wanted) in views {
        let path = arguments.out.join(name);
        if !arguments.check {
            files::write(&path, wanted.as_bytes()).map_err(Failure::CouldNotTell)?;
            continue;
        }
        let found = files::read(&path).unwrap_or_default();
        if found != wanted.as_bytes() {
            is_current = false;
            let found = String::from_utf8_lossy(&found);
            console.data(&difference(&path.display().to_string(), &found, &wanted))?;
        }
    }
    if !is_current {
        console.say("the views are not what the policy says; run `countersign policy render`\n");
    }
    Ok(if is_current { Exit::Yes } else { Exit::No })
}
