//! Events that stand for themselves: no session decided anything, but it happened.

use countersign_canon::{Nullable, Object, Sha256};
use countersign_ledger::{Event, EventContext, EventKind, NewEvent, Session, StreamId};
use countersign_store::{Command, Reply};

use crate::{Caller, Node, ServiceError, clock, node::unexpected};

/// Something that happened.
#[derive(Debug)]
pub(crate) struct Note<'n> {
    /// What.
    pub(crate) event: EventKind,
    /// Where it is told.
    pub(crate) stream_id: StreamId,
    /// The run that it happened in, if it did in one.
    pub(crate) run: Option<&'n Session>,
    /// The hash of the document that it is about, if there is one.
    pub(crate) ir_hash: Option<Sha256>,
    /// More about it.
    pub(crate) detail: Object<'static>,
}

impl Node {
    /// Appends an event that stands for itself.
    pub(crate) fn append(
        &self,
        caller: &Caller,
        endpoint: &str,
        note: Note<'_>,
    ) -> Result<Event, ServiceError> {
        let Note { event, stream_id, run, ir_hash, detail } = note;
        let origin = caller.origin(endpoint)?;
        let event = NewEvent {
            event,
            stream_id,
            ts: clock::now()?,
            source: origin.source,
            context: EventContext {
                session_id: None,
                run_id: run.map(|run| run.session_id.clone()),
                role: Nullable(run.map(|run| run.role.clone())),
                endpoint: origin.endpoint,
                ir_hash,
            },
            detail,
        };
        let reply = self.call(caller, endpoint, Command::Append(vec![event]))?.reply;
        let Reply::Appended(events) = reply else { return Err(unexpected(&reply)) };
        events.into_iter().next().ok_or_else(|| ServiceError::defect("nothing was appended"))
    }
}
