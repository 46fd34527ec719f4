//! `countersign outcome`: how an execution went.

use countersign_canon::{Text, Wire as _};
use countersign_ledger::{OutcomeStatus, PermitId};
use countersign_service::api::ReportOutcome;

use crate::{
    console::Console,
    embedded::{Place, Shown, usage},
    exit::Exit,
    failure::Failure,
};

/// Report how an execution went
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign outcome per_0123 succeeded
  countersign outcome per_0123 failed --detail 'the cluster refused'

Exit: 0 noted, 2 it could not be")]
pub(crate) struct Arguments {
    /// The permit that let it begin
    #[arg(value_parser = PermitId::parse)]
    permit: PermitId,
    /// succeeded or failed
    #[arg(value_parser = OutcomeStatus::parse)]
    status: OutcomeStatus,
    /// What else there is to say
    #[arg(long, default_value = "")]
    detail: String,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { permit, status, detail, place, shown } = arguments;
    let detail = Text::new(detail.clone()).ok_or_else(|| usage("a detail has at most 4000 characters"))?;
    let request = ReportOutcome { permit_id: permit.clone(), status: *status, detail: Some(detail) };
    let execution = place.door()?.ask(request)?;
    shown.show(console, &execution.write(), &format!("{} {}", execution.permit_id, execution.state))?;
    Ok(Exit::Yes)
}
