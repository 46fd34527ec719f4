//! `countersign intent seal`: the same document with the right checksum.

use std::path::PathBuf;

use countersign_intent::DocumentKind;

use crate::{console::Console, effects::folder, exit::Exit, failure::Failure, source::Source};

/// Recompute the checksum of an intent, set, result, plan or pack
///
/// Only hashes: whether the document is valid is `validate`'s question.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign intent seal intent_add_logging.json
  countersign intent seal intent_add_logging.json --in-place

Exit: 0 sealed, 1 the document is not JSON or of no known type, 2 it could not be read or written")]
pub(crate) struct Arguments {
    /// The document; `-` reads standard input
    file: PathBuf,
    /// Write the document back instead of printing it
    #[arg(long)]
    in_place: bool,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let source = Source::read(&arguments.file)?;
    let sealed = source.parse().and_then(|document| {
        let document = document.into_owned();
        DocumentKind::of(&document).map(|kind| kind.seal(&document).to_pretty())
    });
    let sealed = match sealed {
        Ok(sealed) => sealed,
        Err(issue) => return Err(Failure::refused(source, issue)),
    };
    if arguments.in_place && arguments.file.as_os_str() != "-" {
        folder::put(&arguments.file, &sealed).map_err(Failure::CouldNotTell)?;
    } else {
        console.data(&sealed)?;
    }
    Ok(Exit::Yes)
}
