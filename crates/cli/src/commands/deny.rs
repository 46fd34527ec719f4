//! `countersign deny`: a person's no.

use countersign_canon::{Text, Wire as _};
use countersign_ledger::Principal;
use countersign_policy::ApprovalId;
use countersign_service::api::DenyApproval;

use crate::{
    console::Console,
    embedded::{Place, Shown, usage},
    exit::Exit,
    failure::Failure,
};

/// Say no to a request
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign deny apr_0123 --reason 'not before Monday'

Exit: 0 denied, 2 it could not be")]
pub(crate) struct Arguments {
    /// The request
    #[arg(value_parser = ApprovalId::parse)]
    approval: ApprovalId,
    /// Why
    #[arg(long)]
    reason: String,
    /// Who says so, on the embedded store; a service knows it by the token
    #[arg(long, value_name = "NAME", value_parser = Principal::parse)]
    by: Option<Principal>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let Arguments { approval, reason, by, place, shown } = arguments;
    let reason = Text::new(reason.clone()).ok_or_else(|| usage("a reason has at most 2000 characters"))?;
    let (door, request) = (place.door()?, DenyApproval { approval_id: approval.clone(), reason });
    let denied = match by {
        Some(by) => door.ask_as(by, request)?,
        None => door.ask(request)?,
    };
    shown.show(console, &denied.write(), &format!("{} {}", denied.approval_id, denied.state))?;
    Ok(Exit::Yes)
}
