//! `countersign pending`: what waits for a person.

use countersign_canon::{Json, Value, Wire as _};
use countersign_ledger::Approval;
use countersign_policy::ApprovalState;
use countersign_service::{Node, ServiceError};

use crate::{
    console::Console,
    embedded::{Place, Shown, owner},
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
    let node = arguments.place.open()?;
    node.sweep(&owner()?)?;
    let state = (!arguments.all).then_some(ApprovalState::Pending);
    let approvals = node.store().approvals(state).map_err(ServiceError::from)?;
    let (mut lines, mut items) = (Vec::new(), Vec::new());
    for approval in &approvals {
        let action = action_of(&node, approval)?;
        let Approval { approval_id, state, action_kind, session_id, requester, expires_at, .. } = approval;
        let payload = action.get("action_payload").map(Json::to_canonical).unwrap_or_default();
        lines.push(format!("{approval_id} {state} until {expires_at}: {action_kind} {payload}"));
        lines.push(format!("  asked by {requester} in {session_id}; run: {}", approval.command()));
        items.push(Json::object([("approval", approval.write()), ("action", action)]));
    }
    arguments.shown.show(console, &Json::array(items), &lines.join("\n"))?;
    Ok(Exit::Yes)
}

fn action_of(node: &Node, approval: &Approval) -> Result<Json<'static>, Failure> {
    let action = node.store().action(&approval.action_hash).map_err(ServiceError::from)?;
    Ok(action.map_or_else(|| Json::from(Value::Null), |action| Json::from(Value::Object(action))))
}
