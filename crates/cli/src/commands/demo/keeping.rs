//! A scene: what happened is kept in order, and every event has its place.

use std::path::Path;

use countersign_canon::{Issue, Nullable, Object, Text, Timestamp};
use countersign_ledger::{EventContext, EventKind, NewEvent, RoleName, SessionId, Source, StreamId};
use countersign_store::{Sqlite, StoreError};

use super::{Stage, defect};
use crate::failure::{Failure, codes};

pub(super) fn play(stage: Stage, data: &Path, now: Timestamp) -> Result<(), Failure> {
    stage.title("What happened is kept: one SQLite file, synced before anything is answered")?;
    let session = SessionId::parse("demo").map_err(|issue| defect("the session", &issue))?;
    let stream = StreamId::copilot(&session);
    let mut store = Sqlite::open(&data.join("data")).map_err(|error| refused(&error))?;
    let events = [EventKind::SessionStart, EventKind::SessionStop]
        .into_iter()
        .map(|kind| event(kind, &session, now))
        .collect::<Result<_, _>>()
        .map_err(|issue| defect("the event", &issue))?;
    store.append(events).map_err(|error| refused(&error))?;
    for event in store.events(&stream, 0).map_err(|error| refused(&error))? {
        stage.line(&format!("{stream} #{}", event.seq.get()), event.event.as_str())?;
    }
    Ok(())
}

fn event(kind: EventKind, session: &SessionId, now: Timestamp) -> Result<NewEvent, Issue> {
    Ok(NewEvent {
        event: kind,
        stream_id: StreamId::copilot(session),
        ts: now,
        source: Source {
            component: text("demo")?,
            version: text(env!("CARGO_PKG_VERSION"))?,
            provider: text("countersign")?,
        },
        context: EventContext {
            session_id: Some(session.clone()),
            run_id: None,
            role: Nullable(Some(RoleName::parse("copilot")?)),
            endpoint: text("demo")?,
            ir_hash: None,
        },
        detail: Object::default(),
    })
}

fn text<const MIN: usize, const MAX: usize>(text: &str) -> Result<Text<MIN, MAX>, Issue> {
    Text::new(text.to_owned()).ok_or_else(|| Issue::new(codes::CLI_DEFECT, "a text has the wrong length"))
}

fn refused(error: &StoreError) -> Failure {
    Failure::CouldNotTell(Issue::new(error.code(), error.to_string()))
}
