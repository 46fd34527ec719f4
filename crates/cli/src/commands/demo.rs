//! `countersign demo`: what the product does, shown on shipped examples and a store in a temporary folder.

mod deciding;
mod naming;
mod proving;
mod scanning;
mod weighing;

use std::fmt::Write as _;

use countersign_canon::Issue;
use countersign_service::{Node, NodeOptions};

use crate::{
    console::Console,
    effects::files,
    exit::Exit,
    failure::{Failure, codes},
};

/// Show what Countersign does, on shipped examples, in under a minute
///
/// Everything shown is computed while you watch. The store is a temporary folder, removed at the end.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign demo

Exit: 0 shown, 2 the temporary store could not be used")]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, console: Console) -> Result<Exit, Failure> {
    let stage = Stage { console };
    naming::play(stage)?;
    let folder = files::temporary_folder().map_err(Failure::CouldNotTell)?;
    let node =
        Node::open(&NodeOptions { data: folder.path().join("data"), database: None, checkpoints: None })?;
    let session = deciding::play(stage, &node)?;
    proving::play(stage, &node, &session)?;
    weighing::play(stage)?;
    scanning::play(stage, folder.path())?;
    Ok(Exit::Yes)
}

/// Where a scene is played: titles, then lines under them.
#[derive(Clone, Copy)]
struct Stage {
    console: Console,
}

impl Stage {
    fn title(self, title: &str) -> Result<(), Failure> {
        self.console.data(&format!("\n{title}\n"))
    }

    /// Prints a label and a text; the further lines of the text stand below the first.
    fn line(self, label: &str, text: &str) -> Result<(), Failure> {
        let mut shown = String::new();
        for (index, line) in text.lines().enumerate() {
            let label = if index == 0 { label } else { "" };
            // Writing to a String cannot fail.
            let _infallible = writeln!(shown, "  {label:<14} {line}");
        }
        self.console.data(&shown)
    }
}

/// A defect of a shipped example: it must not happen, and if it does it is not a yes.
fn defect(what: &str, problem: impl std::fmt::Display) -> Failure {
    Failure::CouldNotTell(Issue::new(codes::CLI_DEFECT, format!("{what}: {problem}")))
}
