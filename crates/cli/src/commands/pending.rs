//! `countersign pending`: what waits for a person.

use countersign_canon::{Json, Wire as _};
use countersign_ledger::Approval;
use countersign_policy::ApprovalState;
use countersign_service::{
    Door,
    api::{ApprovalView, ListApprovals},
};

use crate::{
    console::Console,
    embedded::{Place, Shown},
    exit::Exit,
    failure::Failure,
};

/// List the requests that wait for a person, with the whole action
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign pending
  countersign pending --all --format json

Exit: 0 listed, 2 the store could not be read")]
pub(crate) struct Arguments {
    /// Every approval, also those that were answered
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let door = arguments.place.door()?;
    if let Door::Here(node, caller) = &door {
        // A service does so by itself.
        node.sweep(caller)?;
    }
    let state = (!arguments.all).then_some(ApprovalState::Pending);
    let views = door.ask(ListApprovals { state })?.approvals;
    let mut lines = Vec::new();
    for ApprovalView { approval, action, command, .. } in &views {
        let Approval { approval_id, state, action_kind, session_id, requester, expires_at, .. } = approval;
        let payload = action.as_ref().and_then(|action| action.get("action_payload"));
        let payload = payload.map(Json::to_canonical).unwrap_or_default();
        lines.push(format!("{approval_id} {state} until {expires_at}: {action_kind} {payload}"));
        lines.push(format!("  asked by {requester} in {session_id}; run: {command}"));
    }
    arguments.shown.show(console, &Json::array(views.iter().map(ApprovalView::write)), &lines.join("\n"))?;
    Ok(Exit::Yes)
}
