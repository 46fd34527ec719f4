//! Sessions, keys and tokens.

use countersign_canon::{Json, Timestamp, Wire as _};
use countersign_ledger::{
    Access, ApproverKey, EventKind, KeyId, Principal, Session, SessionState, Token, detail,
};
use countersign_policy::{Mode, SessionId};

use super::not_found;
use crate::{
    request::{CallError, Origin, Refusal, Reply, StartSession},
    shelf::read_rows,
    working::Working,
};

impl Working<'_> {
    /// Refuses a caller whose token was revoked since it was looked at, also earlier in this very batch.
    pub(super) fn check_credential(&mut self, origin: &Origin) -> Result<(), CallError> {
        let Some(hash) = &origin.credential else { return Ok(()) };
        let token = self.batch.tokens.get(self.sql, &hash.to_string())?;
        let counts = token.is_some_and(|token| {
            token.revoked_at.is_none() && token.name == origin.principal && token.access == origin.access
        });
        if counts { Ok(()) } else { Err(Refusal::Unauthenticated.into()) }
    }

    /// Starts a session; only an admin starts one that may write.
    pub(super) fn start_session(
        &mut self,
        origin: &Origin,
        start: &StartSession,
        now: Timestamp,
    ) -> Result<Session, CallError> {
        origin.require(&[Access::Agent, Access::Admin])?;
        if start.mode == Mode::WritesAllowed {
            origin.require(&[Access::Admin])?;
        }
        let StartSession { session_id, kind, role, mode, client } = start.clone();
        if self.batch.sessions.get(self.sql, session_id.as_str())?.is_some() {
            return Err(Refusal::Exists { what: "session", id: session_id.to_string() }.into());
        }
        let session = Session {
            session_id,
            kind,
            owner: origin.principal.clone(),
            role,
            mode,
            client,
            state: SessionState::Active,
            created_at: now,
            stopped_at: None,
        };
        self.batch.sessions.put(session.clone());
        let members = [
            ("owner", session.owner.write()),
            ("mode", session.mode.write()),
            ("client", session.client.write()),
        ];
        self.emit(&origin.event(EventKind::SessionStart, Some(&session), now, detail(members)))?;
        Ok(session)
    }

    /// Ends a session: its owner, or an admin.
    pub(super) fn stop_session(
        &mut self,
        origin: &Origin,
        id: &SessionId,
        now: Timestamp,
    ) -> Result<Session, CallError> {
        let session = self.own_session(origin, id)?;
        if session.state == SessionState::Stopped {
            return Err(Refusal::SessionStopped(id.clone()).into());
        }
        let stopped = Session { state: SessionState::Stopped, stopped_at: Some(now), ..session };
        self.batch.sessions.put(stopped.clone());
        let members = [("stopped_by", origin.principal.write())];
        self.emit(&origin.event(EventKind::SessionStop, Some(&stopped), now, detail(members)))?;
        Ok(stopped)
    }

    /// The session, if the caller may act in it.
    pub(super) fn own_session(&mut self, origin: &Origin, id: &SessionId) -> Result<Session, CallError> {
        let session = self.batch.sessions.get(self.sql, id.as_str())?;
        let session = session.ok_or_else(|| not_found("session", id.as_str()))?;
        origin.require(&[Access::Agent, Access::Admin])?;
        if origin.access == Access::Agent && session.owner != origin.principal {
            let message = format!("session `{id}` belongs to somebody else");
            return Err(Refusal::Forbidden { access: origin.access, message }.into());
        }
        Ok(session)
    }

    pub(super) fn add_key(
        &mut self,
        origin: &Origin,
        key: &ApproverKey,
        now: Timestamp,
    ) -> Result<Reply, CallError> {
        origin.require(&[Access::Admin])?;
        if key.key_id != key.public_key.id() {
            return Err(Refusal::Invalid { message: "the key id is not that of the key".to_owned() }.into());
        }
        if self.batch.keys.get(self.sql, key.key_id.as_str())?.is_some() {
            return Err(Refusal::Exists { what: "key", id: key.key_id.to_string() }.into());
        }
        let key = ApproverKey { created_at: now, revoked_at: None, ..key.clone() };
        self.put_key(key.clone());
        self.emit_key(origin, EventKind::KeyAdded, &key, now)
    }

    pub(super) fn revoke_key(
        &mut self,
        origin: &Origin,
        id: &KeyId,
        now: Timestamp,
    ) -> Result<Reply, CallError> {
        origin.require(&[Access::Admin])?;
        let key = self.batch.keys.get(self.sql, id.as_str())?;
        let key = key.ok_or_else(|| not_found("key", id.as_str()))?;
        if key.revoked_at.is_some() {
            return Ok(Reply::Done);
        }
        let key = ApproverKey { revoked_at: Some(now), ..key };
        self.put_key(key.clone());
        self.emit_key(origin, EventKind::KeyRevoked, &key, now)
    }

    /// The event of a key, which anybody may see: whose signature counts is part of what happened.
    fn emit_key(
        &mut self,
        origin: &Origin,
        kind: EventKind,
        key: &ApproverKey,
        now: Timestamp,
    ) -> Result<Reply, CallError> {
        let members = [("key", key.write()), ("by", origin.principal.write())];
        self.emit(&origin.event(kind, None, now, detail(members)))?;
        Ok(Reply::Done)
    }

    pub(super) fn add_token(
        &mut self,
        origin: &Origin,
        token: &Token,
        now: Timestamp,
    ) -> Result<Reply, CallError> {
        origin.require(&[Access::Admin])?;
        let taken = self.token_named(&token.name)?.is_some();
        if taken || self.batch.tokens.get(self.sql, &token.token_hash.to_string())?.is_some() {
            return Err(Refusal::Exists { what: "token", id: token.name.to_string() }.into());
        }
        let token = Token { created_at: now, revoked_at: None, ..token.clone() };
        self.batch.tokens.put(token.clone());
        self.emit_token(origin, EventKind::TokenAdded, &token, now)
    }

    pub(super) fn revoke_token(
        &mut self,
        origin: &Origin,
        name: &Principal,
        now: Timestamp,
    ) -> Result<Reply, CallError> {
        origin.require(&[Access::Admin])?;
        let token = self.token_named(name)?.ok_or_else(|| not_found("token", name.as_str()))?;
        if token.revoked_at.is_some() {
            return Ok(Reply::Done);
        }
        let token = Token { revoked_at: Some(now), ..token };
        self.batch.tokens.put(token.clone());
        self.emit_token(origin, EventKind::TokenRevoked, &token, now)
    }

    /// The event of a token: whom it speaks for, never its hash.
    fn emit_token(
        &mut self,
        origin: &Origin,
        kind: EventKind,
        token: &Token,
        now: Timestamp,
    ) -> Result<Reply, CallError> {
        let members = [
            ("name", token.name.write()),
            ("access", token.access.write()),
            ("by", origin.principal.write()),
        ];
        self.emit(&origin.event(kind, None, now, detail(members)))?;
        Ok(Reply::Done)
    }

    fn token_named(&mut self, name: &Principal) -> Result<Option<Token>, CallError> {
        if let Some(token) = self.batch.tokens.values().find(|token| token.name == *name) {
            return Ok(Some(token.clone()));
        }
        let rows = self.sql.query("SELECT body FROM token WHERE name = $1", &[name.as_str().into()])?;
        let found: Option<Token> = read_rows(&rows)?.into_iter().next();
        match found {
            Some(token) => Ok(self.batch.tokens.get(self.sql, &token.token_hash.to_string())?),
            None => Ok(None),
        }
    }
}

/// The payload of `session.set_mode`: just the mode.
pub(super) fn mode_of(payload: &Json<'_>) -> Result<Mode, Refusal> {
    let members = payload.as_object().map_or(&[][..], |object| object.members());
    let mode = match members {
        [member] if member.key == "mode" => member.value.as_str().and_then(|text| Mode::parse(text).ok()),
        _ => None,
    };
    mode.ok_or_else(|| Refusal::Invalid {
        message: "the payload of session.set_mode is {\"mode\": \"read_only\" or \"writes_allowed\"}"
            .to_owned(),
    })
}
