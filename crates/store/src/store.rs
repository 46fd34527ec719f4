//! The store: one queue to one writer, and as many readers as there are questions.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, mpsc::sync_channel},
};

use countersign_canon::{Issue, Sha256, Timestamp};
use countersign_ledger::{
    Activation, Approval, ApproverKey, DecisionId, DecisionRecord, Event, Execution, ExecutionState, KeyName,
    LeafHash, LoadedVersion, LogReport, NoteKey, PermitId, PolicyVersion, Principal, ProofArtifact,
    SecretKey, Session, SignedCheckpoint, StreamId, Token, VersionNumber,
};
use countersign_policy::{ActionHash, ApprovalId, ApprovalState, ProbeFacts, ProbeHash, SessionId};

use crate::{
    StoreError,
    connection::{Connection, Database},
    copy::{CheckpointCopy, CopyFault},
    files,
    log::{self, Seal},
    postgresql, random,
    read::{self, LoggedDecision, LoggedEvent, VerifyError},
    request::{Call, CallError},
    shelf::Kept,
    snapshot::{self, Snapshot},
    sql::Sql,
    writer::{Answer, Responder, Writer},
};

/// The file of the key that signs the log.
const KEY_FILE: &str = "log.key";

/// Where a store is and how it is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The folder of the embedded database and of the key that signs the log.
    pub data: PathBuf,
    /// The address of a PostgreSQL database; nothing for the embedded one.
    pub database: Option<String>,
    /// The folder, outside the store, for the copy of the newest checkpoint.
    pub checkpoints: Option<PathBuf>,
    /// The instant of the opening.
    pub now: Timestamp,
}

impl StoreOptions {
    fn place(&self) -> Database {
        match &self.database {
            None => Database::Sqlite(self.data.clone()),
            Some(url) => Database::Postgresql(url.clone()),
        }
    }
}

/// Keeps events, decisions and approvals so that nothing is lost and nothing is used twice.
#[derive(Debug)]
pub struct Store {
    writer: Writer,
    database: Database,
    readers: Mutex<Vec<Connection>>,
    public_key: NoteKey,
    copy_path: Option<PathBuf>,
    copy_fault: CopyFault,
}

impl Store {
    /// Opens the store, making it if it is not there.
    ///
    /// Opening, calling and asking block the thread; an asynchronous caller hands them to threads that may block, or
    /// uses [`Store::submit`].
    ///
    /// # Errors
    ///
    /// Fails if the folder or a file in it can be written by others, if the engine is unsafe, if the store comes from
    /// a later version or is damaged, and if the disk refuses.
    pub fn open(options: &StoreOptions) -> Result<Self, StoreError> {
        Self::open_with(options, Database::open)
    }

    /// The same for a store that is there already, for whoever has questions about it.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], and if there is none.
    pub fn open_existing(options: &StoreOptions) -> Result<Self, StoreError> {
        options.place().refuse_missing()?;
        Self::open(options)
    }

    /// The same for a process that makes one call and ends: others may wait for its end.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open_briefly(options: &StoreOptions) -> Result<Self, StoreError> {
        Self::open_with(options, Database::open_briefly)
    }

    fn open_with(
        options: &StoreOptions,
        open: impl FnOnce(&Database) -> Result<Connection, StoreError>,
    ) -> Result<Self, StoreError> {
        files::private_folder(&options.data)?;
        let database = options.place();
        let mut connection = open(&database)?;
        let key = sealing_key(&mut connection, options)?;
        let public_key = key.public();
        let copy_fault = CopyFault::default();
        let copy = |folder: &PathBuf| {
            CheckpointCopy::new(folder, &public_key.name, &options.data, Arc::clone(&copy_fault))
        };
        let copy = options.checkpoints.as_ref().map(copy).transpose()?;
        let copy_path = copy.as_ref().map(|copy| copy.path().to_path_buf());
        let writer =
            Writer::new(database.clone(), connection, Seal { key, keys: Vec::new(), last: None }, copy);
        Ok(Self { writer, database, readers: Mutex::default(), public_key, copy_path, copy_fault })
    }

    /// Queues a command and calls `respond` with its answer, once it is durable.
    pub fn submit(&self, call: Call, respond: Responder) {
        self.writer.submit(call, respond);
    }

    /// Carries out a command here and now, and waits until it is durable; nothing if somebody else is at it: then it is to
    /// be queued. For a caller that is alone: it need not wait for a thread to wake up, and to be woken again.
    pub fn call_alone(&self, call: &Call) -> Option<Result<Answer, CallError>> {
        self.writer.answer_alone(call)
    }

    /// Carries out a command and waits until it is durable.
    ///
    /// # Errors
    ///
    /// Fails if the store says no, or cannot say; nothing has been done then.
    pub fn call(&self, call: Call) -> Result<Answer, CallError> {
        if let Some(answer) = self.writer.answer_alone(&call) {
            return answer;
        }
        let (answered, answer) = sync_channel(1);
        self.submit(call, Box::new(move |result| drop(answered.send(result))));
        answer.recv().unwrap_or_else(|_| Err(gone().into()))
    }

    /// The number of the policy version in force, if it is the one of these documents: the bytes of rules, lattice and allow
    /// policy. Then the next decision is made from them without reading the stored ones: what has the same hash is the same.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read, or holds something damaged.
    pub fn is_in_force(&self, documents: [&[u8]; 3]) -> Result<Option<VersionNumber>, StoreError> {
        let Some((version, hashes)) = self.look(read::named_in_force)? else { return Ok(None) };
        let Ok(loaded) = LoadedVersion::from_documents(version, documents) else { return Ok(None) };
        let is_it = loaded.hashes() == hashes;
        if let (true, Some(mut desk)) = (is_it, self.writer.desk()) {
            desk.know(loaded);
        }
        Ok(is_it.then_some(version))
    }

    /// The number of the policy version in force.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read, or holds something damaged.
    pub fn number_in_force(&self) -> Result<Option<VersionNumber>, StoreError> {
        self.look(read::number_in_force)
    }

    /// The granted approvals for this action in this session.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read, or holds something damaged.
    pub fn granted_approvals(
        &self,
        session: &SessionId,
        action: &ActionHash,
    ) -> Result<Vec<Approval>, StoreError> {
        self.look(|sql| read::granted_approvals(sql, session, action))
    }

    /// The public key with which this process signs the log.
    #[must_use]
    pub const fn public_key(&self) -> &NoteKey {
        &self.public_key
    }

    /// Where the copy of the newest checkpoint is, if there is to be one.
    #[must_use]
    pub fn checkpoint_copy(&self) -> Option<&Path> {
        self.copy_path.as_deref()
    }

    /// What went wrong with the last copy of the checkpoint, if anything did.
    #[must_use]
    pub fn copy_fault(&self) -> Option<String> {
        self.copy_fault.lock().map_or(None, |fault| fault.clone())
    }

    /// Copies the store to a new file while it is in use.
    ///
    /// # Errors
    ///
    /// Fails if there is something under that name already, and if the disk refuses.
    pub fn back_up(&self, target: &Path) -> Result<(), StoreError> {
        self.database.open()?.back_up(target)
    }

    /// How many standbys hold every commit before it is answered; nothing for a database that has none by nature.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot say.
    pub fn synchronous_standbys(&self) -> Result<Option<u64>, StoreError> {
        match self.database {
            Database::Sqlite(_) => Ok(None),
            Database::Postgresql(_) => self.read(postgresql::synchronous_standbys).map(Some),
        }
    }

    /// Checks that the database is whole, page by page, as far as it can say so itself.
    ///
    /// # Errors
    ///
    /// Fails if it is not.
    pub fn check_integrity(&self) -> Result<(), StoreError> {
        self.database.open()?.check_integrity()
    }

    /// Asks something of one state of the store.
    fn read<T>(&self, run: impl Fn(&mut dyn Sql) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.ask(|connection| connection.read(&run))
    }

    /// Asks something in one statement, which sees one state of the store as it is.
    fn look<T>(&self, run: impl Fn(&mut dyn Sql) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.ask(|connection| connection.look(&run))
    }

    /// Asks on a connection that nobody else uses, if need be twice.
    fn ask<T>(&self, run: impl Fn(&mut Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if let Some(mut desk) = self.writer.desk() {
            return desk.ask(run);
        }
        let idle = self.readers.lock().map_or(None, |mut readers| readers.pop());
        if let Some(connection) = idle {
            match self.ask_on(connection, &run) {
                // The database may have been away and be back: connections from before are of no use.
                Err(StoreError::Unavailable { .. }) => {
                    self.readers.lock().map_or((), |mut idle| idle.clear())
                }
                answer => return answer,
            }
        }
        self.ask_on(self.database.open()?, &run)
    }

    /// Asks on this connection, and keeps it for the next question if it is sound.
    fn ask_on<T>(
        &self,
        mut connection: Connection,
        run: &impl Fn(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let answer = run(&mut connection)?;
        if let Ok(mut readers) = self.readers.lock() {
            readers.push(connection);
        }
        Ok(answer)
    }
}

/// The questions. Each fails if the store cannot be read or holds something damaged.
#[expect(clippy::missing_errors_doc, reason = "said once for all of them")]
impl Store {
    /// One state of the store, as an export begins with it.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        self.read(snapshot::take)
    }

    /// The events of a stream after this place, in order.
    pub fn events(&self, stream: &StreamId, after_seq: i64) -> Result<Vec<Event>, StoreError> {
        self.read(|sql| read::events(sql, stream, after_seq, u32::MAX))
    }

    /// At most so many events of a stream after this place, in order.
    pub fn some_events(
        &self,
        stream: &StreamId,
        after_seq: i64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        self.read(|sql| read::events(sql, stream, after_seq, limit))
    }

    /// At most so many events of the log from this place on.
    pub fn log_events(&self, from: u64, limit: u32) -> Result<Vec<LoggedEvent>, StoreError> {
        self.read(|sql| read::log_events(sql, from, limit))
    }

    /// The hashes of the first so many entries of the log: what proofs are made from.
    pub fn log_leaves(&self, size: u64) -> Result<Vec<LeafHash>, StoreError> {
        self.read(|sql| read::leaves(sql, size))
    }

    /// The newest checkpoint.
    pub fn checkpoint(&self) -> Result<Option<SignedCheckpoint>, StoreError> {
        self.read(read::newest_note)
    }

    /// At most so many checkpoints from this number on.
    pub fn checkpoints(&self, from: u64, limit: u32) -> Result<Vec<SignedCheckpoint>, StoreError> {
        self.read(|sql| read::notes(sql, from, limit))
    }

    /// The public keys of everybody who signs the log.
    pub fn log_keys(&self) -> Result<Vec<NoteKey>, StoreError> {
        self.read(log::load_keys)
    }

    /// Verifies the whole log, with these keys or else those in the store, and these checkpoints from outside.
    pub fn verify_log(
        &self,
        keys: Option<Vec<NoteKey>>,
        outside: &[SignedCheckpoint],
    ) -> Result<LogReport, VerifyError> {
        Ok(self.read(|sql| read::verify(sql, keys.clone(), outside))??)
    }

    /// A session.
    pub fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        self.look(|sql| read::one(sql, "session", "session_id", id.as_str().into()))
    }

    /// Every session.
    pub fn sessions(&self) -> Result<Vec<Session>, StoreError> {
        self.read(|sql| read::all(sql, "session", "session_id"))
    }

    /// At most so many sessions after this one, in the order of their ids; those of this owner, or all.
    pub fn some_sessions(
        &self,
        owner: Option<&Principal>,
        after: Option<&SessionId>,
        limit: i64,
    ) -> Result<Vec<Session>, StoreError> {
        let only = owner.map(|owner| ("owner", owner.as_str()));
        self.read(|sql| read::page(sql, only, after.map_or("", SessionId::as_str), limit))
    }

    /// An approval.
    pub fn approval(&self, id: &ApprovalId) -> Result<Option<Approval>, StoreError> {
        self.look(|sql| read::one(sql, "approval", "approval_id", id.as_str().into()))
    }

    /// The approvals that stand here; all of them if nothing is said.
    pub fn approvals(&self, state: Option<ApprovalState>) -> Result<Vec<Approval>, StoreError> {
        self.read(|sql| read::approvals(sql, state))
    }

    /// At most so many approvals after this one, in the order of their ids; those that stand here, or all.
    pub fn some_approvals(
        &self,
        state: Option<ApprovalState>,
        after: Option<&ApprovalId>,
        limit: i64,
    ) -> Result<Vec<Approval>, StoreError> {
        let only = state.map(|state| ("state", state.as_str()));
        self.read(|sql| read::page(sql, only, after.map_or("", ApprovalId::as_str), limit))
    }

    /// How many approvals stand here.
    pub fn count_approvals(&self, state: ApprovalState) -> Result<u64, StoreError> {
        self.read(|sql| read::count_approvals(sql, state))
    }

    /// The action that somebody was asked to approve: its kind and payload.
    pub fn action(
        &self,
        hash: &ActionHash,
    ) -> Result<Option<countersign_canon::Object<'static>>, StoreError> {
        self.look(|sql| read::document(sql, Kept::Action, &hash.to_string()))
    }

    /// An execution.
    pub fn execution(&self, id: &PermitId) -> Result<Option<Execution>, StoreError> {
        self.look(|sql| read::one(sql, "execution", "permit_id", id.as_str().into()))
    }

    /// Every execution.
    pub fn executions(&self) -> Result<Vec<Execution>, StoreError> {
        self.read(|sql| read::all(sql, "execution", "permit_id"))
    }

    /// At most so many executions, the latest first; those that stand here, or all.
    pub fn latest_executions(
        &self,
        state: Option<ExecutionState>,
        limit: i64,
    ) -> Result<Vec<Execution>, StoreError> {
        self.read(|sql| read::latest_executions(sql, state, limit))
    }

    /// The last approval of this kind of action in the same session that people granted.
    pub fn last_granted(&self, approval: &Approval) -> Result<Option<Approval>, StoreError> {
        self.read(|sql| read::last_granted(sql, approval))
    }

    /// A decision.
    pub fn decision(&self, id: &DecisionId) -> Result<Option<DecisionRecord>, StoreError> {
        self.look(|sql| read::one(sql, "decision", "decision_id", id.as_str().into()))
    }

    /// At most so many decisions, from this place of the log on.
    pub fn decisions(&self, from: u64, limit: u32) -> Result<Vec<LoggedDecision>, StoreError> {
        self.read(|sql| read::decisions(sql, from, limit))
    }

    /// At most so many decisions as they are stored, each with its place of the log, from this place on.
    pub fn decision_bodies(&self, from: u64, limit: u32) -> Result<Vec<(u64, String)>, StoreError> {
        self.read(|sql| read::decision_bodies(sql, from, limit))
    }

    /// What a probe found.
    pub fn probe(&self, hash: &ProbeHash) -> Result<Option<ProbeFacts>, StoreError> {
        self.look(|sql| read::document(sql, Kept::Probe, &hash.to_string()))
    }

    /// What was proved about a policy version, or not.
    pub fn proofs(&self, version: VersionNumber) -> Result<Vec<ProofArtifact>, StoreError> {
        self.read(|sql| read::proofs(sql, version.get()))
    }

    /// The certificate with this hash.
    pub fn certificate(&self, hash: &Sha256) -> Result<Option<String>, StoreError> {
        self.look(|sql| read::document_body(sql, Kept::Certificate, &hash.to_string()))
    }

    /// Every policy version.
    pub fn policy_versions(&self) -> Result<Vec<PolicyVersion>, StoreError> {
        self.read(|sql| read::all(sql, "policy_version", "version"))
    }

    /// A policy version.
    pub fn policy_version(&self, version: VersionNumber) -> Result<Option<PolicyVersion>, StoreError> {
        self.look(|sql| read::one(sql, "policy_version", "version", version.get().into()))
    }

    /// The policy version in force.
    pub fn version_in_force(&self) -> Result<Option<PolicyVersion>, StoreError> {
        self.read(read::version_in_force)
    }

    /// Every activation; the last one is in force.
    pub fn activations(&self) -> Result<Vec<Activation>, StoreError> {
        self.read(|sql| read::all(sql, "activation", "number"))
    }

    /// Every registered key of an approver.
    pub fn approver_keys(&self) -> Result<Vec<ApproverKey>, StoreError> {
        self.read(|sql| read::all(sql, "approver_key", "key_id"))
    }

    /// The token with this hash.
    pub fn token(&self, hash: &Sha256) -> Result<Option<Token>, StoreError> {
        self.look(|sql| read::one(sql, "token", "token_hash", hash.to_string().into()))
    }

    /// Every token.
    pub fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        self.read(|sql| read::all(sql, "token", "name"))
    }
}

fn gone() -> StoreError {
    StoreError::Unavailable { message: "the writer is gone".to_owned() }
}

/// The key that signs the log: the one in the data folder, or a new one.
fn sealing_key(connection: &mut Connection, options: &StoreOptions) -> Result<SecretKey, StoreError> {
    let path: &Path = &options.data.join(KEY_FILE);
    let unreadable = |issue: Issue| StoreError::Corrupt { message: format!("{KEY_FILE}: {issue}") };
    let own = || -> Result<Option<SecretKey>, StoreError> {
        let text = files::read_private(path)?;
        text.map(|text| SecretKey::parse(text.trim_end())).transpose().map_err(unreadable)
    };
    if let Some(key) = own()?
        && connection.look(|sql| log::knows_key(sql, &key))?
    {
        return Ok(key);
    }
    connection.write(|sql| {
        // Once more: another process may have made it in the meantime.
        let key = match own()? {
            Some(key) => key,
            None => {
                let instance = u64::from_be_bytes(random::bytes()?);
                let name =
                    KeyName::parse(&format!("countersign-{instance:016x}/urm-audit")).map_err(unreadable)?;
                let key = SecretKey::from_seed(log::load_origin(sql, name)?, &random::bytes()?);
                files::write_private(path, &format!("{}\n", key.to_secret_text()))?;
                key
            }
        };
        log::register_key(sql, &key, options.now)?;
        Ok(key)
    })
}
