//! A scene: what happened is kept in order, and every event has its place.

use std::path::Path;

use countersign_canon::{Issue, Text, Timestamp};
use countersign_ledger::{Access, Principal, SessionKind, Source, StreamId};
use countersign_policy::{Mode, Role, SessionId};
use countersign_store::{Call, CallError, Command, Origin, StartSession, Store, StoreOptions};

use super::{Stage, defect};
use crate::failure::{Failure, codes};

pub(super) fn play(stage: Stage, data: &Path, now: Timestamp) -> Result<(), Failure> {
    stage.title("What happened is kept: one SQLite file, synced before anything is answered")?;
    let session = SessionId::parse("demo").map_err(|issue| defect("the session", &issue))?;
    let stream = StreamId::copilot(&session);
    let options = StoreOptions { data: data.join("data"), database: None, checkpoints: None, now };
    let store = Store::open(&options).map_err(|error| refused(&error.into()))?;
    let origin = origin().map_err(|issue| defect("the origin", &issue))?;
    let start = start(&session).map_err(|issue| defect("the session", &issue))?;
    for command in [Command::StartSession(start), Command::StopSession(session)] {
        let call = Call { origin: origin.clone(), now, command };
        store.call(call).map_err(|error| refused(&error))?;
    }
    for event in store.events(&stream, 0).map_err(|error| refused(&error.into()))? {
        stage.line(&format!("{stream} #{}", event.seq.get()), event.event.as_str())?;
    }
    Ok(())
}

fn origin() -> Result<Origin, Issue> {
    Ok(Origin {
        principal: Principal::parse("demo")?,
        access: Access::Agent,
        endpoint: text("demo")?,
        source: Source {
            component: text("demo")?,
            version: text(env!("CARGO_PKG_VERSION"))?,
            provider: text("countersign")?,
        },
    })
}

fn start(session: &SessionId) -> Result<StartSession, Issue> {
    Ok(StartSession {
        session_id: session.clone(),
        kind: SessionKind::Session,
        role: Role::parse("copilot")?,
        mode: Mode::ReadOnly,
        client: text("demo")?,
    })
}

fn text<const MIN: usize, const MAX: usize>(text: &str) -> Result<Text<MIN, MAX>, Issue> {
    Text::new(text.to_owned()).ok_or_else(|| Issue::new(codes::CLI_DEFECT, "a text has the wrong length"))
}

fn refused(error: &CallError) -> Failure {
    Failure::CouldNotTell(Issue::new(error.code(), error.to_string()))
}
