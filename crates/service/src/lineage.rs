//! One hash line: everything that hangs together with a decision, an approval, a permit or an action.

use std::collections::BTreeSet;

use countersign_canon::{Json, Wire as _};
use countersign_ledger::Event;

use crate::{Node, ServiceError};

/// The members of an event's detail that tie it to others.
const TIES: [&str; 3] = ["decision_id", "approval_id", "permit_id"];
/// LIMIT: how many decisions are in memory at once.
const PAGE_ROWS: u32 = 1000;

/// The events that hang together, in the order of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Lineage {
    /// What was asked for.
    pub id: String,
    /// Each event with its place in the log.
    pub events: Vec<(u64, Event)>,
}

impl Lineage {
    /// The line as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let events = self.events.iter().map(|(index, event)| {
            let index = Json::from(u32::try_from(*index).unwrap_or(u32::MAX));
            Json::object([("log_index", index), ("event", event.write())])
        });
        Json::object([("id", Json::from(self.id.clone())), ("events", Json::array(events))])
    }
}

impl Node {
    /// Walks from an id or an action hash to everything that belongs to it.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub fn lineage(&self, id: &str) -> Result<Lineage, ServiceError> {
        let mut ids = BTreeSet::from([id.to_owned()]);
        // Each round follows the ties one step further; a line has few.
        let mut known = 0;
        while known < ids.len() {
            known = ids.len();
            self.follow(&mut ids)?;
        }
        let mut events = Vec::new();
        self.each_event(&mut |index, event| {
            if is_tied(&event, &ids) {
                events.push((index, event));
            }
            Ok::<(), ServiceError>(())
        })?;
        Ok(Lineage { id: id.to_owned(), events })
    }

    /// Adds what is tied directly to what is known already.
    fn follow(&self, ids: &mut BTreeSet<String>) -> Result<(), ServiceError> {
        self.each_event(&mut |_, event| {
            if is_tied(&event, ids) {
                let ties = TIES.iter().filter_map(|key| event.detail.get(key).and_then(Json::as_str));
                ids.extend(ties.map(str::to_owned));
            }
            Ok::<(), ServiceError>(())
        })?;
        let mut next = 0_u64;
        loop {
            let page = self.store().decisions(next, PAGE_ROWS)?;
            if page.is_empty() {
                return Ok(());
            }
            for logged in page {
                next = logged.log_index.saturating_add(1);
                let record = logged.record;
                let provided = record.approval.map(|approval| approval.approval_id);
                let permit = record.permit_id.as_ref().map(ToString::to_string);
                let approvals = [provided, record.pending_approval_id].into_iter().flatten();
                let mut ties = vec![record.decision_id.to_string()];
                ties.extend(permit);
                ties.extend(approvals.map(|id| id.to_string()));
                if ties.iter().any(|tie| ids.contains(tie)) {
                    ids.extend(ties);
                }
            }
        }
    }
}

fn is_tied(event: &Event, ids: &BTreeSet<String>) -> bool {
    let mut ties = TIES.iter().chain(&["action_hash"]);
    ties.any(|key| event.detail.get(key).and_then(Json::as_str).is_some_and(|tie| ids.contains(tie)))
}
