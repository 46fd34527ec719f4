//! Sessions and runs: who acts, in which role and mode.

use countersign_canon::{Text, Timestamp, choice, record};

use countersign_policy::{Mode, Role, SessionId};

use crate::{Principal, StreamId};

choice! {
    /// Whether a person sits beside it.
    pub enum SessionKind {
        /// A conversation.
        Session = "session",
        /// An unattended job.
        Run = "run",
    }
}

choice! {
    /// Whether it goes on.
    pub enum SessionState {
        /// It does.
        Active = "active",
        /// It ended.
        Stopped = "stopped",
    }
}

record! {
    /// A session, or the run of a worker.
    pub struct Session {
        /// Its id.
        session_id: SessionId,
        /// Which of the two it is.
        kind: SessionKind,
        /// Who started it, and alone may act in it.
        owner: Principal,
        /// The role it acts in.
        role: Role,
        /// What it may do.
        mode: Mode,
        /// What the client calls itself.
        client: Text<1, 128>,
        /// Whether it goes on.
        state: SessionState,
        /// When it started.
        created_at: Timestamp,
        /// When it ended.
        stopped_at: Option<Timestamp>,
    }
}

impl Session {
    /// The stream of its actions.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        match self.kind {
            SessionKind::Session => StreamId::copilot(&self.session_id),
            SessionKind::Run => StreamId::worker(&self.session_id),
        }
    }
}
