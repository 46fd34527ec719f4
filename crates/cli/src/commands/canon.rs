//! `countersign canon`: one document in, its one spelling out.

use std::path::PathBuf;

use countersign_canon::Sha256;

use crate::{console::Console, effects::terminal, exit::Exit, failure::Failure, source::Source};

/// Print a JSON document in its canonical form (RFC 8785), or its SHA-256
///
/// The bytes printed are exactly those that are hashed: no line break is added, except on a terminal.
/// Refused, each with its own code and place: duplicate keys, NaN, half surrogate pairs, numbers that would
/// not keep their value, nesting beyond 128, a byte order mark, trailing data, bytes that are not UTF-8.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign canon payload.json
  countersign canon payload.json --sha256
  curl -s http://127.0.0.1:8080/policy | countersign canon -

Exit: 0 printed, 1 the document was refused, 2 it could not be read")]
pub(crate) struct Arguments {
    /// The document; `-` reads standard input
    file: PathBuf,
    /// Print the SHA-256 of the canonical bytes instead
    #[arg(long)]
    sha256: bool,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let source = Source::read(&arguments.file)?;
    let mut text = match source.parse() {
        Ok(document) => document.to_canonical(),
        Err(issue) => return Err(Failure::refused(source, issue)),
    };
    if arguments.sha256 {
        text = Sha256::of(text.as_bytes()).to_string();
    }
    if arguments.sha256 || terminal::stdout_is_terminal() {
        text.push('\n');
    }
    console.data(&text)?;
    Ok(Exit::Yes)
}
