//! `countersign intent validate`: one or more documents in, every problem of each out.

use std::path::PathBuf;

use countersign_intent::validate_document;

use crate::{
    console::Console,
    exit::Exit,
    failure::Failure,
    intent::{
        registry::RegistryArguments,
        report::{self, Refusal},
    },
    source::Source,
};

/// Check intents, sets, results, plans and packs: form, red lines, checksums, registry ids
///
/// Every problem of every file is reported at once, each with its code and place. An intent lies in a file named
/// after it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign intent validate intent_add_logging.json
  countersign intent validate work/*.json --registry ./registry

Exit: 0 all valid, 1 something is not, 2 a file could not be read")]
pub(crate) struct Arguments {
    /// The documents; `-` reads standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    registry: RegistryArguments,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let registry = arguments.registry.load()?;
    let mut refusals = Vec::new();
    for path in &arguments.files {
        let source = Source::read(path)?;
        // Only a file that is named like an intent promises to hold that one.
        let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| stem.starts_with("intent_"));
        if let Err(issues) = validate_document(&source.bytes, stem, registry.as_ref()) {
            refusals.push(Refusal::new(source, issues));
        }
    }
    if registry.is_none() {
        console.say("note: no registry was used, so ids were not looked up (I5)\n");
    }
    report::show(&refusals, console)
}
