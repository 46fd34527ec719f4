//! Sessions as they are asked for.

use countersign_canon::Text;
use countersign_ledger::SessionKind;
use countersign_policy::{Mode, Role, SessionId};
use countersign_store::{Command, StartSession};

use crate::{ServiceError, caller::text};

/// A session that is to start.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    /// A session, or the run of a worker.
    pub kind: SessionKind,
    /// The role it acts in.
    pub role: Role,
    /// What it may do.
    pub mode: Mode,
    /// What the client calls itself.
    pub client: Text<1, 128>,
}

impl NewSession {
    /// A session in this role and mode.
    ///
    /// # Errors
    ///
    /// Fails if the client has no name, or one of more than 128 characters.
    pub fn new(role: Role, mode: Mode, client: &str) -> Result<Self, ServiceError> {
        Ok(Self { kind: SessionKind::Session, role, mode, client: text("the client", client)? })
    }

    /// What the store is told: the session gets this id.
    pub(crate) fn into_command(self, session_id: SessionId) -> Command {
        let Self { kind, role, mode, client } = self;
        Command::StartSession(StartSession { session_id, kind, role, mode, client })
    }
}
