//! `countersign verify`: a bundle is checked by somebody who has nothing but the bundle.

use std::path::PathBuf;

use countersign_canon::Json;
use countersign_ledger::NoteKey;
use countersign_service::{BundleCheck, BundleFault};

use super::log::read_checkpoints;
use crate::{
    console::Console,
    embedded::{Shown, lines},
    exit::Exit,
    failure::Failure,
};

/// Verify a bundle without the store: signatures, hashes, and every decision made again, byte for byte
///
/// Without --log-key the keys in the bundle are believed: that shows that the bundle is whole, not whose it is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign verify audit.bundle
  countersign verify audit.bundle --outside kept.checkpoint --log-key 'countersign-01/urm-audit+1b2c3d4e+AZ…'

Exit: 0 it verifies, 1 it does not, 2 it could not be read")]
pub(crate) struct Arguments {
    /// The bundle, as `countersign log export` writes it; `-` reads standard input
    bundle: PathBuf,
    /// A checkpoint that was kept elsewhere; may be repeated
    #[arg(long, value_name = "FILE")]
    outside: Vec<PathBuf>,
    /// A public key of the log that you trust; may be repeated
    #[arg(long, value_name = "KEY", value_parser = NoteKey::parse)]
    log_key: Vec<NoteKey>,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { bundle, outside, log_key, shown } = arguments;
    let trusted = (!log_key.is_empty()).then(|| log_key.clone());
    let mut check = BundleCheck::new(trusted, read_checkpoints(outside)?);
    let lines = lines(bundle)?;
    let checked = lines.iter().try_for_each(|line| check.line(line)).and_then(|()| check.finish());
    match checked {
        Ok(report) => {
            let text = format!(
                "{}: {} events, {} checkpoints, {} decisions made again, {} approvals, {} policy versions, {} proofs",
                report.log.level,
                report.log.head.size,
                report.log.checkpoints,
                report.decisions,
                report.approvals,
                report.policy_versions,
                report.proofs
            );
            shown.show(console, &report.to_json(), &text)?;
            Ok(Exit::Yes)
        }
        Err(fault) => {
            let BundleFault { code, place, message } = &fault;
            let text = |text: &String| Json::from(text.clone());
            let json = [("code", Json::from(*code)), ("place", text(place)), ("message", text(message))];
            shown.show(
                console,
                &Json::object([("fault", Json::object(json))]),
                &format!("{code} at {fault}"),
            )?;
            Ok(Exit::No)
        }
    }
}
