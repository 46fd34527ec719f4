//! `countersign log`: the log that nobody can quietly change.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use clap::Subcommand;
use countersign_canon::{Issue, Json, Wire as _, Within};
use countersign_ledger::SignedCheckpoint;
use countersign_service::{
    Node, ServiceError,
    api::{GetCheckpoint, ProveConsistency, ProveInclusion},
};
use countersign_store::read_at_rest;

use crate::{
    console::Console,
    effects::files,
    embedded::{Place, Shown, usage},
    exit::Exit,
    failure::{Failure, codes},
};

/// Verify, prove and export the log
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(VerifyArguments),
    Prove(ProveArguments),
    Consistency(ConsistencyArguments),
    Checkpoint(CheckpointArguments),
    Export(ExportArguments),
}

/// Verify every event and every checkpoint, and say how much that shows
///
/// L0 structure, L1 roots, L2 signatures and consistency, L3 consistent with a checkpoint that was kept outside the store.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign log verify
  countersign log verify --outside yesterday.checkpoint

Exit: 0 it verifies, 1 it does not, 2 it could not be read")]
struct VerifyArguments {
    /// A checkpoint that was kept outside the store; may be repeated [default: the copy in the checkpoint folder]
    #[arg(long, value_name = "FILE")]
    outside: Vec<PathBuf>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

/// Print the proof that an event is in the log, as RFC 6962 has it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign log prove --event 0

Exit: 0 proved, 2 there is no such event, or the store could not be read")]
struct ProveArguments {
    /// The event's place in the log, from 0
    #[arg(long, value_name = "INDEX")]
    event: u64,
    #[command(flatten)]
    place: Place,
}

/// Print the proof that the log of one size is the beginning of the log of another, as RFC 6962 has it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign log consistency 4 9

Exit: 0 proved, 2 there are no such sizes, or the store could not be read")]
struct ConsistencyArguments {
    /// The smaller size
    old: u64,
    /// The larger size
    new: u64,
    #[command(flatten)]
    place: Place,
}

/// Print the newest signed checkpoint: keep it where nobody who can write the store can write
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign log checkpoint > today.checkpoint

Exit: 0 printed, 2 the store could not be read")]
struct CheckpointArguments {
    #[command(flatten)]
    place: Place,
}

/// Write the whole log, with everything its decisions were made from, for `countersign verify` on another machine
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign log export --out audit.bundle

Exit: 0 written, 2 it could not be")]
struct ExportArguments {
    /// The file, which must not be there yet [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    place: Place,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Verify(arguments) => verify(arguments, console),
        Command::Prove(arguments) => prove(arguments, console),
        Command::Consistency(arguments) => consistency(arguments, console),
        Command::Checkpoint(arguments) => checkpoint(arguments, console),
        Command::Export(arguments) => export(arguments, console),
    }
}

/// Checkpoints from these files.
pub(super) fn read_checkpoints(paths: &[PathBuf]) -> Result<Vec<SignedCheckpoint>, Failure> {
    let read = |path: &PathBuf| {
        let text = String::from_utf8(read_at_rest(|| files::read(path)).map_err(Failure::CouldNotTell)?);
        text.map(SignedCheckpoint::from_text)
            .map_err(|_| usage(format!("`{}` is not a checkpoint", path.display())))
    };
    paths.iter().map(read).collect()
}

/// The copy of the newest checkpoint, if there is one.
pub(super) fn read_copy(node: &Node) -> Result<Vec<SignedCheckpoint>, Failure> {
    let copy = node.store().checkpoint_copy().filter(|path| files::mode_of(path).is_some());
    read_checkpoints(&copy.map(Path::to_path_buf).into_iter().collect::<Vec<_>>())
}

fn verify(arguments: &VerifyArguments, console: Console) -> Result<Exit, Failure> {
    let VerifyArguments { outside, place, shown } = arguments;
    let node = place.open()?;
    let kept = if outside.is_empty() { read_copy(&node)? } else { read_checkpoints(outside)? };
    match node.verify_log(&kept) {
        Ok(report) => {
            let (size, checkpoints) = (report.head.size, report.checkpoints);
            let json = Json::object([
                ("valid", Json::from(true)),
                ("level", report.level.write()),
                ("events", number(size)),
                ("checkpoints", number(checkpoints)),
                ("root", report.head.root.write()),
            ]);
            let text = format!(
                "{}: {size} events, {checkpoints} checkpoints, root {}",
                report.level, report.head.root
            );
            shown.show(console, &json, &text)?;
            Ok(Exit::Yes)
        }
        Err(ServiceError::Log(fault)) => {
            let json = Json::object([("valid", Json::from(false)), ("fault", fault.to_json())]);
            shown.show(console, &json, &format!("{} at {fault}", fault.code))?;
            Ok(Exit::No)
        }
        Err(error) => Err(error.into()),
    }
}

fn prove(arguments: &ProveArguments, console: Console) -> Result<Exit, Failure> {
    let event = place_in_log(arguments.event)?;
    let proof = arguments.place.door()?.ask(ProveInclusion { event })?;
    console.data(&proof.write().to_pretty())?;
    Ok(Exit::Yes)
}

fn consistency(arguments: &ConsistencyArguments, console: Console) -> Result<Exit, Failure> {
    let ConsistencyArguments { old, new, place } = arguments;
    let request = ProveConsistency { old: place_in_log(*old)?, new: place_in_log(*new)? };
    console.data(&place.door()?.ask(request)?.write().to_pretty())?;
    Ok(Exit::Yes)
}

fn place_in_log<const MIN: i64, const MAX: i64>(number: u64) -> Result<Within<MIN, MAX>, Failure> {
    let place = i64::try_from(number).ok().and_then(Within::new);
    place.ok_or_else(|| usage(format!("{number} is not a place in a log")))
}

fn checkpoint(arguments: &CheckpointArguments, console: Console) -> Result<Exit, Failure> {
    console.data(&arguments.place.door()?.ask(GetCheckpoint {})?.checkpoint)?;
    Ok(Exit::Yes)
}

fn export(arguments: &ExportArguments, console: Console) -> Result<Exit, Failure> {
    let door = arguments.place.door()?;
    let Some(path) = &arguments.out else {
        door.export(&mut |line| console.bytes(line))?;
        return Ok(Exit::Yes);
    };
    let mut file = std::io::BufWriter::new(files::create(path).map_err(Failure::CouldNotTell)?);
    let failed = |error: std::io::Error| {
        let message = format!("`{}` could not be written: {error}", path.display());
        Failure::CouldNotTell(Issue::new(codes::CLI_WRITE_FAILED, message))
    };
    door.export(&mut |line| file.write_all(line).map_err(failed))?;
    file.flush().map_err(failed)?;
    Ok(Exit::Yes)
}

fn number(number: u64) -> Json<'static> {
    Json::from(u32::try_from(number).unwrap_or(u32::MAX))
}
