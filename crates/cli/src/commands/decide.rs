//! `countersign decide`: may this action proceed, and why.

use std::path::PathBuf;

use countersign_canon::Wire as _;
use countersign_policy::{ActionKind, ApprovalId, SessionId};
use countersign_service::{
    Ask, Door,
    api::{DecideAction, DecisionReply},
};

use crate::{
    console::Console,
    embedded::{Place, Shown, usage},
    exit::Exit,
    failure::Failure,
    source::Source,
};

/// Decide whether an action may proceed
///
/// Every decision is recorded, whether the action is to begin or not. With --proceed an allowed action is given a permit,
/// and an approval that it needs is used up in the same transaction; report how it went with `countersign outcome`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign decide --session ses_0123 --kind fs.read --payload read.json
  countersign decide --session ses_0123 --kind deploy --payload deploy.json --approval apr_4567 --proceed

Exit: 0 allowed, 1 denied, 2 it could not be decided, 4 an approval is required")]
pub(crate) struct Arguments {
    /// The session or run; without one nobody acts
    #[arg(long, value_name = "ID", value_parser = SessionId::parse)]
    session: Option<SessionId>,
    /// The kind of action, such as fs.write or deploy
    #[arg(long, value_parser = ActionKind::parse)]
    kind: ActionKind,
    /// The action's payload, a JSON document; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    payload: PathBuf,
    /// The approval that a person granted
    #[arg(long, value_name = "ID", value_parser = ApprovalId::parse)]
    approval: Option<ApprovalId>,
    /// Begin at once if it is allowed
    #[arg(long)]
    proceed: bool,
    /// A name for this request: the same request under the same name gets the same answer
    #[arg(long, value_name = "NAME")]
    client_request_id: Option<String>,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    shown: Shown,
}

pub(crate) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let source = Source::read(&arguments.payload)?;
    let payload = match source.parse() {
        Ok(payload) => payload.into_owned(),
        Err(issue) => return Err(Failure::refused(source, issue)),
    };
    let new = Ask::new(arguments.kind.clone(), payload);
    let new = if arguments.proceed { new.to_begin() } else { new };
    let name = arguments.client_request_id.as_ref().map(|name| {
        let text = countersign_canon::Text::new(name.clone());
        text.ok_or_else(|| usage("a client request id has 1 to 128 characters"))
    });
    let ask_for = Ask {
        session_id: arguments.session.clone(),
        approval_id: arguments.approval.clone(),
        client_request_id: name.transpose()?,
        ..new
    };
    ask(&arguments.place.door_or_make()?, ask_for, arguments.shown, console)
}

/// Asks, shows the answer, and ends as it says.
pub(super) fn ask(door: &Door, ask: Ask, shown: Shown, console: Console) -> Result<Exit, Failure> {
    let decision = door.ask(DecideAction::from(ask))?;
    shown.show(console, &decision.write(), &in_words(&decision))?;
    Ok(match (decision.is_allowed(), decision.needs_approval()) {
        (true, _) => Exit::Yes,
        (false, true) => Exit::ApprovalRequired,
        (false, false) => Exit::No,
    })
}

fn in_words(decision: &DecisionReply) -> String {
    let word = if decision.is_allowed() { "allowed" } else { "denied" };
    let outcome = &decision.outcome;
    let mut lines = vec![format!("{word} {}: {}", decision.code(), outcome.reason)];
    lines.push(format!("decision {}", outcome.decision_id));
    if let Some(permit) = &outcome.permit {
        lines.push(format!("permit {} until {}", permit.permit_id, permit.expires_at));
    }
    if let Some(pending) = &outcome.pending_approval {
        lines.push(format!("a person runs: {}", pending.command));
    }
    lines.join("\n")
}
