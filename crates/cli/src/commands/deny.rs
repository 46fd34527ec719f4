//! `countersign deny`: a person's no.

use countersign_canon::{Text, Wire as _};
use countersign_ledger::Principal;
use countersign_policy::ApprovalId;

use crate::{
    console::Console,
    embedded::{Place, Shown, owner, usage},
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
    /// Who says so
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
    let owner = owner()?;
    let caller = by.as_ref().map_or_else(|| owner.clone(), |by| owner.approver(by.clone()));
    let denied = place.open()?.deny(&caller, approval, reason)?;
    shown.show(console, &denied.write(), &format!("{} {}", denied.approval_id, denied.state))?;
    Ok(Exit::Yes)
}
