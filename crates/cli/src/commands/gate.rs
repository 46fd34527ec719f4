//! `countersign gate`: the checks that stand between a change and its release, each of which runs the engine.

use std::path::PathBuf;

use clap::Subcommand;

use crate::{
    console::Console,
    exit::Exit,
    failure::Failure,
    gates::{Checked, dry_run, evaluator},
};

/// Run the gates: checks that use the engine on the shipped examples and can fail
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Evaluator(EvaluatorArguments),
    DryRun(DryRunArguments),
}

/// The gates of the intent evaluator, A to J
///
/// A examples present, ids unique. B examples and outcomes valid. C every invalid fixture refused for its own reason.
/// D no execution symbols in schemas, examples and outcomes. E runs in an empty home, touches nothing but its output.
/// F explanations as shipped. G each conflict type found where planted and nowhere else. H the same input gives the
/// same bytes. I the risk matrix recomputes. J lineage complete, without payload.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate evaluator
  countersign gate evaluator D J --root .

Exit: 0 all gates passed, 1 a gate is red, 2 the examples could not be read")]
struct EvaluatorArguments {
    /// Which gates, by letter; all of them unless given
    gates: Vec<String>,
    /// The folder that holds examples/, fixtures/ and schemas/
    #[arg(long, default_value = ".", value_name = "DIR")]
    root: PathBuf,
}

/// The gates of the dry run, A to F
///
/// A examples present, ids unique. B examples and results valid against full schemas. C every invalid fixture refused for
/// its own reason, and a good result with one byte changed. D what plans can neither execute nor write, by its
/// dependencies and its sources. E runs in an empty home, touches nothing but its output. F explanations as shipped.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign gate dry-run
  countersign gate dry-run C D --root .

Exit: 0 all gates passed, 1 a gate is red, 2 the examples could not be read")]
struct DryRunArguments {
    /// Which gates, by letter; all of them unless given
    gates: Vec<String>,
    /// The folder that holds examples/, fixtures/, schemas/ and crates/
    #[arg(long, default_value = ".", value_name = "DIR")]
    root: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Evaluator(arguments) => {
            let checked = evaluator::run(&arguments.root, &arguments.gates)?;
            show(&checked, console)
        }
        Command::DryRun(arguments) => {
            let checked = dry_run::run(&arguments.root, &arguments.gates)?;
            show(&checked, console)
        }
    }
}

fn show(checked: &[Checked], console: Console) -> Result<Exit, Failure> {
    let mut text = String::new();
    for gate in checked {
        let state = if gate.complaints.is_empty() { "pass" } else { "FAIL" };
        text.push_str(&format!("{} {state}  {}\n", gate.letter, gate.what));
        text.extend(gate.complaints.iter().map(|complaint| format!("    {complaint}\n")));
    }
    console.data(&text)?;
    Ok(if checked.iter().all(|gate| gate.complaints.is_empty()) { Exit::Yes } else { Exit::No })
}
