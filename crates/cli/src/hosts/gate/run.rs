//! Runs of workers: unattended jobs whose runtime tells what it does, line by line.

use std::path::PathBuf;

use countersign_canon::{Issue, Object};
use countersign_ledger::{Session, SessionKind};
use countersign_policy::{Mode, Role};
use countersign_service::{NewSession, Tail};

use super::Gate;
use crate::failure::Failure;

/// The role that an unattended job acts in.
const ROLE: &str = "pipeline_worker";

impl Gate {
    /// Starts a run in this mode.
    pub(crate) fn start_run(&self, client: &str, mode: Mode) -> Result<Session, Issue> {
        let new = NewSession::new(Role::parse(ROLE)?, mode, client);
        let run = new.and_then(|new| {
            self.node.start_session(&self.caller, NewSession { kind: SessionKind::Run, ..new })
        });
        run.map_err(|error| Issue::from(&error))
    }

    /// Keeps what the runtime of a worker told.
    pub(crate) fn note_worker(&self, run: &Session, told: Object<'static>) -> Result<(), Issue> {
        self.node.note_worker(&self.caller, run, told).map_err(|error| Issue::from(&error))
    }

    /// Ends a run.
    pub(crate) fn stop_run(&self, run: &Session) -> Result<(), Issue> {
        self.node.stop_session(&self.caller, &run.session_id).map(drop).map_err(|error| Issue::from(&error))
    }

    /// Gives the events of a run that come after this place, and how far they go.
    ///
    /// # Errors
    ///
    /// Fails if they cannot be read, or whoever takes them fails.
    pub(crate) fn run_events(
        &self,
        run: &Session,
        after_seq: i64,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<i64, Failure> {
        let mut last = after_seq;
        let tail = Tail { stream: Some(run.stream()), after_seq, follow: false };
        self.node.tail(&tail, &mut |line| {
            last = last.saturating_add(1);
            take(line)
        })?;
        Ok(last)
    }

    /// Where the lines of a run are kept as they came.
    pub(crate) fn run_evidence(&self, run: &Session) -> PathBuf {
        self.ground.workspace.data.join("evidence").join(format!("{}.ndjson", run.session_id))
    }
}
