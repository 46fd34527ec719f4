//! `countersign proof export`: the formulas and proofs of a certificate, for other people's checkers.

use std::path::PathBuf;

use countersign_proof::export;

use crate::{console::Console, effects::files, exit::Exit, failure::Failure, source::Source};

/// Write the formulas (DIMACS) and proofs (LRAT) of a certificate to files that other checkers read
///
/// The formulas are made again from the documents of the certificate, not taken from it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign proof export policy.cert --out formulas
  lrat-check formulas/kernel.cnf formulas/kernel.lrat

Exit: 0 written, 1 the certificate is damaged, 2 a file could not be read or written")]
pub(super) struct Arguments {
    /// The certificate
    certificate: PathBuf,
    /// The folder to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let bytes = files::read_all(&arguments.certificate).map_err(Failure::CouldNotTell)?;
    let name = arguments.certificate.display().to_string();
    let exports = match export(&bytes) {
        Ok(exports) => exports,
        Err(issue) => return Err(Failure::refused(Source { name, bytes }, issue)),
    };
    for claim in exports {
        for (ending, text) in [("cnf", claim.dimacs), ("lrat", claim.lrat)] {
            let path = arguments.out.join(format!("{}.{ending}", claim.scope));
            files::write(&path, text.as_bytes()).map_err(Failure::CouldNotTell)?;
            console.data(&format!("{}\n", path.display()))?;
        }
    }
    Ok(Exit::Yes)
}
