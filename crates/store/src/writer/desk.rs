//! Where the writer writes: one transaction for each batch of calls.

use std::sync::Arc;

use countersign_ledger::{LoadedVersion, Session, SignedCheckpoint, StreamId};
use countersign_policy::SessionId;

use super::{
    Answer, Permit,
    office::{Ahead, Done, Known},
};
use crate::{
    StoreError,
    batch::{Batch, Memory},
    connection::{Connection, Database},
    copy::CheckpointCopy,
    engine::{self, Made},
    log::Seal,
    request::{Call, CallError, Command, Reply},
    sql::Sql,
    sqlite::Settler,
    working::Working,
};

/// What the writer has before it.
pub(crate) struct Desk {
    database: Database,
    connection: Option<Connection>,
    seal: Seal,
    copy: Option<CheckpointCopy>,
    loaded: Option<Arc<LoadedVersion>>,
    settler: Option<Settler>,
}

/// What a transaction has done.
struct Transacted {
    done: Vec<Done>,
    checkpoint: Option<SignedCheckpoint>,
    log_size: u64,
    loaded: Option<Arc<LoadedVersion>>,
    /// What is known now, unless that was said before it.
    memory: Option<Memory>,
}

impl Desk {
    pub(super) fn new(
        database: Database,
        connection: Connection,
        seal: Seal,
        copy: Option<CheckpointCopy>,
    ) -> Self {
        Self { database, connection: Some(connection), seal, copy, loaded: None, settler: None }
    }

    /// Does all of this in one transaction, of which the first was worked out before; the answers, and what is known then.
    pub(super) fn answer(
        &mut self,
        calls: &[Call],
        ahead: Option<Ahead>,
    ) -> (Vec<Result<Answer, CallError>>, Known) {
        match self.transact(calls, ahead) {
            Ok(Transacted { done, checkpoint, log_size, loaded, memory }) => {
                self.loaded = loaded;
                let known = memory.map_or(Known::AsHandedOver, |memory| Known::Now(Box::new(memory)));
                (self.answers(done, checkpoint.as_ref(), log_size), known)
            }
            // Whatever a failed commit left behind is found out by opening again, never by trying again.
            Err(error) => (calls.iter().map(|_| Err(error.clone().into())).collect(), Known::Nothing),
        }
    }

    /// Asks on the writer's connection, if need be twice.
    pub(crate) fn ask<T>(
        &mut self,
        run: impl Fn(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let was_open = self.connection.is_some();
        let mut connection = self.open()?;
        let mut answer = run(&mut connection);
        if was_open && matches!(answer, Err(StoreError::Unavailable { .. })) {
            // The database may have been away and be back: a connection from before is of no use.
            connection = self.open()?;
            answer = run(&mut connection);
        }
        if answer.is_ok() {
            self.connection = Some(connection);
        }
        answer
    }

    /// Takes this for the policy version of its number, so that it need not be read if it is in force.
    pub(crate) fn know(&mut self, loaded: LoadedVersion) {
        self.loaded = Some(Arc::new(loaded));
    }

    fn open(&mut self) -> Result<Connection, StoreError> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        let mut connection = self.database.open()?;
        if let Some(settler) = &self.settler {
            connection.follow(settler)?;
        }
        Ok(connection)
    }

    /// Leaves it to a thread to put what is written into its place.
    pub(super) fn settle_beside(&mut self) -> Result<(), StoreError> {
        self.settler = self.database.settler()?;
        if let (Some(connection), Some(settler)) = (&mut self.connection, &self.settler) {
            connection.follow(settler)?;
        }
        Ok(())
    }

    fn transact(&mut self, calls: &[Call], ahead: Option<Ahead>) -> Result<Transacted, StoreError> {
        // What was known by another connection's numbers is not known any more.
        let ahead = ahead.filter(|_| self.connection.is_some());
        let mut connection = self.open()?;
        let (seal, copy, loaded) = (&mut self.seal, self.copy.as_ref(), self.loaded.clone());
        let begin = |sql: &mut dyn Sql, seal: &mut Seal| Batch::begin(sql, seal, copy, loaded);
        let transacted = connection.write(|sql| carry_out(sql, seal, begin, calls, ahead))?;
        self.connection = Some(connection);
        if let (Some(copy), Some(checkpoint)) = (&self.copy, &transacted.checkpoint) {
            copy.replace(checkpoint.as_str());
        }
        Ok(transacted)
    }

    fn answers(
        &mut self,
        done: Vec<Done>,
        checkpoint: Option<&SignedCheckpoint>,
        log_size: u64,
    ) -> Vec<Result<Answer, CallError>> {
        let answer = |done: Done| {
            let (reply, made) = done?;
            let (checkpoint, is_replay) = match made {
                Made::Now => (checkpoint.cloned(), false),
                Made::Before(number) => (self.earlier(number, checkpoint)?, true),
            };
            let permit = match &reply {
                Reply::Decided(decided) => decided.permit.clone().map(|document| Permit { document }),
                Reply::Session(_)
                | Reply::Approval(_)
                | Reply::Execution(_)
                | Reply::Swept(_)
                | Reply::Activated(_)
                | Reply::Appended(_)
                | Reply::Done => None,
            };
            Ok(Answer { reply, permit, checkpoint, log_size, is_replay })
        };
        done.into_iter().map(answer).collect()
    }

    /// The checkpoint that an earlier answer was given with: perhaps that of this very batch.
    fn earlier(
        &mut self,
        number: u64,
        checkpoint: Option<&SignedCheckpoint>,
    ) -> Result<Option<SignedCheckpoint>, StoreError> {
        if let Some(note) = checkpoint.filter(|note| note.claim().is_ok_and(|claim| claim.number == number)) {
            return Ok(Some(note.clone()));
        }
        let Some(connection) = &mut self.connection else { return Ok(None) };
        connection.read(|sql| crate::read::checkpoint_note(sql, number))
    }
}

/// Carries out the calls in this transaction: writes what was worked out ahead, if it still holds, and works out the rest.
fn carry_out(
    sql: &mut dyn Sql,
    seal: &mut Seal,
    begin: impl FnOnce(&mut dyn Sql, &mut Seal) -> Result<Batch, StoreError>,
    calls: &[Call],
    ahead: Option<Ahead>,
) -> Result<Transacted, StoreError> {
    let (batch, done) = ahead.map_or((None, Vec::new()), |Ahead { batch, done }| (Some(batch), done));
    let batch = batch.map_or(Ok(None), |batch| batch.if_it_holds(sql, seal))?;
    let (mut batch, mut done) = match batch {
        Some(batch) => (batch, done),
        None => (begin(sql, seal)?, Vec::with_capacity(calls.len())),
    };
    let rest = calls.get(done.len()..).unwrap_or_default();
    let memory = if rest.is_empty() {
        None
    } else {
        let mut working = Working::resume(sql, &mut batch)?;
        prefetch(&mut working, rest)?;
        for call in rest {
            match engine::run(&mut working, call) {
                Err(CallError::Store(error)) => return Err(error),
                answered @ (Ok(_) | Err(CallError::Refused(_))) => done.push(answered),
            }
        }
        Some(batch.hand_over())
    };
    let (log_size, loaded) = (batch.log_size(), batch.loaded.clone());
    Ok(Transacted { done, checkpoint: batch.write(sql, seal)?, log_size, loaded, memory })
}

/// Reads what the batch will want with a few queries instead of many.
fn prefetch(working: &mut Working<'_>, calls: &[Call]) -> Result<(), StoreError> {
    let (mut sessions, mut approvals, mut executions, mut replies) = (vec![], vec![], vec![], vec![]);
    let mut has_strangers = false;
    let credentials: Vec<String> =
        calls.iter().filter_map(|call| call.origin.credential.as_ref().map(ToString::to_string)).collect();
    for Call { origin, now: _, command } in calls {
        match command {
            Command::Decide(decide) => {
                has_strangers |= decide.session_id.is_none();
                sessions.extend(decide.session_id.as_ref().map(SessionId::as_str));
                approvals.extend(decide.approval_id.as_ref().map(|id| id.as_str()));
                replies.extend(engine::reply_key(origin, decide));
            }
            Command::StartSession(start) => sessions.push(start.session_id.as_str()),
            Command::StopSession(id) => sessions.push(id.as_str()),
            Command::Grant(id, _) | Command::Deny(id, _) | Command::Revoke(id) => approvals.push(id.as_str()),
            Command::Finish(id, _, _) => executions.push(id.as_str()),
            Command::Sweep
            | Command::Activate(_)
            | Command::RollBack(_)
            | Command::KeepProofs(_, _)
            | Command::AddKey(_)
            | Command::RevokeKey(_)
            | Command::AddToken(_)
            | Command::RevokeToken(_)
            | Command::Append(_) => (),
        }
    }
    working.batch.tokens.load(working.sql, &credentials.iter().map(String::as_str).collect::<Vec<_>>())?;
    working.batch.sessions.load(working.sql, &sessions)?;
    working.batch.approvals.load(working.sql, &approvals)?;
    working.batch.executions.load(working.sql, &executions)?;
    let mut streams: Vec<StreamId> = working.batch.sessions.values().map(Session::stream).collect();
    streams.extend(has_strangers.then(|| StreamId::audit(None)));
    working.prefetch(&streams, &replies)
}
