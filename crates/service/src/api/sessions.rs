//! Sessions: who acts, in which role and mode.

use countersign_canon::{Text, record};
use countersign_ledger::{Access, Session, SessionKind};
use countersign_policy::{Mode, Role, SessionId};
use countersign_store::{Command, FreshIds};

use super::{AGENTS, ANYBODY, Asked, Endpoint, PageSize, Route, is_full, own_or_missing, page_size};
use crate::{Caller, NewSession, ServiceError, clock, node::session_of};

record! {
    /// Starts a session.
    pub struct StartSession {
        /// The role it acts in.
        role: Role,
        /// What it may do; reading, unless an admin says otherwise.
        mode: Option<Mode>,
        /// What the client calls itself.
        client: Text<1, 128>,
        /// A session, or the run of a worker.
        kind: Option<SessionKind>,
    }
}

impl Endpoint for StartSession {
    type Reply = Session;
    const ROUTE: Route =
        Route { status: 201, ..Route::post("/v1/sessions", AGENTS, "Start a session or a run") };

    fn ask(self, _: &Caller) -> Result<Asked<Session>, ServiceError> {
        let Self { role, mode, client, kind } = self;
        let new = NewSession {
            kind: kind.unwrap_or(SessionKind::Session),
            role,
            mode: mode.unwrap_or(Mode::ReadOnly),
            client,
        };
        Ok(Asked::change(new.into_command(FreshIds::session(clock::now()?)?), session_of))
    }
}

record! {
    /// Lists sessions, in the order of their ids.
    pub struct ListSessions {
        /// Only what comes after this one: the `next` of the page before.
        after: Option<SessionId>,
        /// How many at most; 100 if left out.
        limit: Option<PageSize>,
    }
}

record! {
    /// Sessions.
    pub struct Sessions {
        /// Each of them; an agent sees its own.
        sessions: Vec<Session>,
        /// After which one the next page begins, if there may be one.
        next: Option<SessionId>,
    }
}

impl Endpoint for ListSessions {
    type Reply = Sessions;
    const ROUTE: Route = Route::get("/v1/sessions", ANYBODY, "List sessions");

    fn ask(self, caller: &Caller) -> Result<Asked<Sessions>, ServiceError> {
        let owner = (caller.access == Access::Agent).then(|| caller.principal.clone());
        Ok(Asked::question(move |node| {
            let limit = page_size(self.limit);
            let sessions = node.store().some_sessions(owner.as_ref(), self.after.as_ref(), limit)?;
            let last = sessions.last().filter(|_| is_full(&sessions, limit));
            Ok(Sessions { next: last.map(|last| last.session_id.clone()), sessions })
        }))
    }
}

record! {
    /// Shows a session.
    pub struct GetSession {
        /// The session.
        session_id: SessionId,
    }
}

impl Endpoint for GetSession {
    type Reply = Session;
    const ROUTE: Route = Route::get("/v1/sessions/{session_id}", ANYBODY, "Show a session");

    fn ask(self, caller: &Caller) -> Result<Asked<Session>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| {
            let (found, id) = (node.store().session(&self.session_id)?, self.session_id.as_str());
            own_or_missing(&caller, found, |session| session.owner == caller.principal, ("session", id))
        }))
    }
}

record! {
    /// Ends a session.
    pub struct StopSession {
        /// The session.
        session_id: SessionId,
    }
}

impl Endpoint for StopSession {
    type Reply = Session;
    const ROUTE: Route = Route::post("/v1/sessions/{session_id}/stop", AGENTS, "End a session");

    fn ask(self, _: &Caller) -> Result<Asked<Session>, ServiceError> {
        Ok(Asked::change(Command::StopSession(self.session_id), session_of))
    }
}
