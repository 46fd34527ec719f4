//! `countersign dry-run explain`: a result for people.

use std::path::PathBuf;

use countersign_dryrun::{explain_json, explain_markdown, explain_svg, explain_text, read_result};

use crate::{console::Console, exit::Exit, failure::Failure, source::Source};

/// Explain a dry-run result: what would happen in which order, which files, which commits, who must look
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign dry-run explain ../plans/dryexec_0123456789abcdef.json
  countersign dry-run explain ../plans/dryexec_0123456789abcdef.json --format svg > plan.svg

Exit: 0 explained, 1 the result is invalid, 2 it could not be read")]
pub(crate) struct Arguments {
    /// The dry-run result; `-` reads standard input
    result: PathBuf,
    /// How it is explained; svg draws the graph
    #[arg(long, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
    Svg,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let source = Source::read(&arguments.result)?;
    let read = match source.parse() {
        Ok(json) => read_result(&json),
        Err(issue) => return Err(Failure::refused(source, issue)),
    };
    let result = match read {
        Ok(result) => result,
        Err(issues) => return Err(Failure::Refused { source, issues }),
    };
    console.data(&match arguments.format {
        Format::Text => explain_text(&result),
        Format::Json => explain_json(&result).to_pretty(),
        Format::Markdown => explain_markdown(&result),
        Format::Svg => explain_svg(&result),
    })?;
    Ok(Exit::Yes)
}
