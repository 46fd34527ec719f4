//! `countersign intent diff`: what differs between two documents, field by field.

use std::path::PathBuf;

use countersign_canon::Json;
use countersign_intent::{Difference, differences};

use crate::{console::Console, exit::Exit, failure::Failure, source::Source};

/// Show what differs between two intents, or any two documents, field by field
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign intent diff before.json after.json
  countersign intent diff before.json after.json --format json

Exit: 0 they say the same, 1 they differ or one is not JSON, 2 one could not be read")]
pub(crate) struct Arguments {
    /// The first document
    before: PathBuf,
    /// The second document
    after: PathBuf,
    /// How the differences are shown
    #[arg(long, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let (before, after) = (Source::read(&arguments.before)?, Source::read(&arguments.after)?);
    let found = match (before.parse(), after.parse()) {
        (Ok(first), Ok(second)) => differences(&first, &second),
        (Err(issue), _) => return Err(Failure::refused(before, issue)),
        (_, Err(issue)) => return Err(Failure::refused(after, issue)),
    };
    console.data(&match arguments.format {
        Format::Text => found.iter().map(as_text).collect(),
        Format::Json => Json::array(found.iter().map(Difference::to_json)).to_pretty(),
    })?;
    Ok(if found.is_empty() { Exit::Yes } else { Exit::No })
}

fn as_text(difference: &Difference) -> String {
    let side = |sign: char, value: &Option<Json<'_>>| {
        value.as_ref().map(|value| format!("  {sign} {}\n", value.to_canonical())).unwrap_or_default()
    };
    format!("{}\n{}{}", difference.pointer, side('-', &difference.before), side('+', &difference.after))
}
