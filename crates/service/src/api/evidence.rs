//! Evidence: everything that hangs together with one id.

use countersign_canon::{Text, record};
use countersign_ledger::Event;

use super::{Asked, Endpoint, READERS, Route, log::Place};
use crate::{Caller, ServiceError};

record! {
    /// Walks from an id of any kind, or an action hash, to everything that belongs to it.
    pub struct TraceId {
        /// The id.
        id: Text<1, 128>,
    }
}

record! {
    /// An event at its place.
    pub struct TracedEvent {
        /// The place in the log.
        log_index: Place,
        /// The event.
        event: Event,
    }
}

record! {
    /// The events that hang together, in the order of the log.
    pub struct Traced {
        /// What was asked for.
        id: String,
        /// Each event with its place.
        events: Vec<TracedEvent>,
    }
}

impl Endpoint for TraceId {
    type Reply = Traced;
    const ROUTE: Route =
        Route::get("/v1/trace/{id}", READERS, "Show everything that hangs together with an id");

    fn ask(self, _: &Caller) -> Result<Asked<Traced>, ServiceError> {
        Ok(Asked::question(move |node| {
            let lineage = node.lineage(self.id.as_str())?;
            let place = |index: u64| Place::clamped(i64::try_from(index).unwrap_or(i64::MAX));
            let events = lineage.events.into_iter();
            let events =
                events.map(|(index, event)| TracedEvent { log_index: place(index), event }).collect();
            Ok(Traced { id: lineage.id, events })
        }))
    }
}
