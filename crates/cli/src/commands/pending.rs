//! `countersign pending`: what waits for a person.

use countersign_canon::{Json, Wire as _};
use countersign_ledger::Approval;
use countersign_policy::ApprovalState;
use countersign_service::{
    Door,
    api::{ApprovalView, PayloadChange, ReviewedDecision, ReviewedRule, Risk},
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
    let views = door.approvals(state)?;
    let lines: Vec<String> = views.iter().flat_map(in_words).collect();
    arguments.shown.show(console, &Json::array(views.iter().map(ApprovalView::write)), &lines.join("\n"))?;
    Ok(Exit::Yes)
}

/// What a reviewer needs to know, line by line.
fn in_words(view: &ApprovalView) -> Vec<String> {
    let ApprovalView { approval, action, last_approved: _, changes, asked, command } = view;
    let Approval { approval_id, state, action_kind, session_id, requester, expires_at, .. } = approval;
    let payload = action.as_ref().and_then(|action| action.get("action_payload"));
    let payload = payload.map(Json::to_canonical).unwrap_or_default();
    let mut lines = vec![
        format!("{approval_id} {state} until {expires_at}: {action_kind} {payload}"),
        format!("  asked by {requester} in {session_id}; run: {command}"),
    ];
    let shown = |json: &Option<Json<'static>>| json.as_ref().map_or("nothing".to_owned(), Json::to_canonical);
    for PayloadChange { pointer, before, after } in changes {
        lines.push(format!(
            "  changed since the last approval: {pointer} {} to {}",
            shown(before),
            shown(after)
        ));
    }
    let Some(ReviewedDecision { rules, risk, evidence_refs }) = asked else { return lines };
    for ReviewedRule { rule_id, message, words } in rules {
        lines.push(format!("  rule {rule_id}: {message} ({words})"));
    }
    let Risk { writes, capability, warrant, warrant_invalid, advisories } = risk;
    let mut risks = vec![if writes.0 == Some(false) { "reads" } else { "writes" }.to_owned()];
    risks.extend(capability.0.as_ref().map(|capability| format!("uses {capability}")));
    risks.extend(warrant.0.map(|warrant| format!("claims to be {warrant}")));
    risks.extend(warrant_invalid.then(|| "its claim is not to be relied on".to_owned()));
    risks.extend(advisories.iter().map(|advice| format!("{} advises {}", advice.rule_id, advice.code)));
    lines.push(format!("  risk: {}", risks.join(", ")));
    let evidence =
        evidence_refs.iter().map(|evidence| format!("{} {}", evidence.kind, evidence.reference.as_str()));
    let evidence: Vec<String> = evidence.collect();
    lines.push(format!(
        "  evidence: {}",
        if evidence.is_empty() { "none".to_owned() } else { evidence.join(", ") }
    ));
    lines
}
