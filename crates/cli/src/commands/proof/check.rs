//! `countersign proof check`: whether a certificate proves what it says.

use std::{fmt::Write as _, path::PathBuf};

use countersign_canon::{Json, Wire as _};
use countersign_proof::{CheckReport, check};

use crate::{
    console::Console, effects::files, embedded::Shown, exit::Exit, failure::Failure, source::Source,
};

/// Check a certificate: make its formulas again from its documents, and follow every step of its proofs
///
/// No solver runs: the proofs are followed by a checker that shares nothing with the one that found them, and witnesses are
/// decided by the evaluator. A changed byte anywhere is refused.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy prove --certificate policy.cert
  countersign proof check policy.cert

Exit: 0 it holds, 1 it does not, 2 the file could not be read")]
pub(super) struct Arguments {
    /// The certificate
    certificate: PathBuf,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let bytes = files::read_all(&arguments.certificate).map_err(Failure::CouldNotTell)?;
    let name = arguments.certificate.display().to_string();
    let source = Source { name, bytes };
    match check(&source.bytes) {
        Ok(report) => {
            arguments.shown.show(console, &report.artifact.write(), &in_words(&report))?;
            Ok(Exit::Yes)
        }
        Err(issue) => Err(Failure::refused(source, issue)),
    }
}

fn in_words(report: &CheckReport) -> String {
    let artifact = &report.artifact;
    let mut text = format!("holds    {}\n", artifact.theorem_id);
    for claim in &report.claims {
        let _infallible =
            writeln!(text, "         {}: {} steps over {} clauses", claim.scope, claim.steps, claim.clauses);
    }
    if let Some(exploration) = &report.exploration {
        let _infallible = writeln!(text, "         {} states, found again", exploration.states.get());
    }
    let named = |name: &str| artifact.inputs.iter().find(|input| input.object_id.as_str() == name);
    for name in ["policy", "lattice", "allow"] {
        let hash = named(name).map_or(Json::from(""), |input| input.formula_hash.write());
        let _infallible = writeln!(text, "         {name} {}", hash.as_str().unwrap_or_default());
    }
    let _infallible = writeln!(text, "         {}", artifact.proof_id);
    text
}
