//! A scene: everything left its event, the log verifies, and a forger is found out.

use countersign_canon::Json;
use countersign_ledger::{Event, LogCheck, LogFault, Session, StoredEvent};
use countersign_service::{Node, ServiceError};

use super::{Stage, defect};
use crate::failure::Failure;

/// LIMIT: how many events of the demo's own log are looked at; it has far fewer.
const EVENTS_MAX: u32 = 1000;

pub(super) fn play(stage: Stage, node: &Node, session: &Session) -> Result<(), Failure> {
    stage.title("Every step left its event, in one signed log")?;
    for event in node.store().events(&session.stream(), 0).map_err(ServiceError::from)? {
        stage.line(&format!("#{}", event.seq.get()), &in_words(&event))?;
    }
    let report = node.verify_log(&[])?;
    let verified =
        format!("{}, {} events, {} checkpoints", report.level, report.head.size, report.checkpoints);
    stage.line("log verifies", &verified)?;

    stage.title("A forger turns the denial of `rm -rf` into a pass: whoever kept a checkpoint sees it")?;
    match forge(node)? {
        Ok(()) => Err(defect("the forgery", "nobody noticed")),
        Err(fault) => stage.line("log refused", &format!("{} at {}", fault.code, fault.place)),
    }
}

fn in_words(event: &Event) -> String {
    let text = |key: &str| event.detail.get(key).and_then(Json::as_str);
    match text("code").or_else(|| text("decision_code")).or_else(|| text("state")) {
        Some(word) => format!("{} {word}", event.event),
        None => event.event.to_string(),
    }
}

/// Checks a copy of the log in which one event says something else.
fn forge(node: &Node) -> Result<Result<(), LogFault>, Failure> {
    let store = node.store();
    let kept = store.checkpoint().map_err(ServiceError::from)?;
    let keys = store.log_keys().map_err(ServiceError::from)?;
    let mut check = LogCheck::new(keys, kept.as_slice()).map_err(ServiceError::from)?;
    for logged in store.log_events(0, EVENTS_MAX).map_err(ServiceError::from)? {
        let is_target = logged.body.contains("DESTRUCTIVE_SHELL_DENIED");
        let body =
            if is_target { logged.body.replace("POLICY_DENIED", "POLICY_EVAL_PASS") } else { logged.body };
        let row = StoredEvent {
            log_index: logged.log_index,
            stream_id: logged.event.stream_id.as_str(),
            seq: logged.event.seq.get(),
            body: &body,
        };
        if let Err(fault) = check.event(&row) {
            return Ok(Err(fault));
        }
    }
    Ok(check.finish().map(|_| ()))
}
