//! `countersign revoke`: a granted approval is taken back before it is used.

use countersign_canon::Wire as _;
use countersign_policy::ApprovalId;
use countersign_service::api::RevokeApproval;

use crate::{
    console::Console,
    embedded::{Place, Shown},
    exit::Exit,
    failure::Failure,
};

/// Take a granted approval back
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign revoke apr_0123

Exit: 0 revoked, 2 it could not be")]
pub(crate) struct Arguments {
    /// The approval
    #[arg(value_parser = ApprovalId::parse)]
    approval: ApprovalId,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let request = RevokeApproval { approval_id: arguments.approval.clone() };
    let revoked = arguments.place.door()?.ask(request)?;
    let text = format!("{} {}", revoked.approval_id, revoked.state);
    arguments.shown.show(console, &revoked.write(), &text)?;
    Ok(Exit::Yes)
}
