//! The one writer of a process: does what has queued up in one transaction, and only then answers.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread::JoinHandle,
};

use countersign_ledger::{LoadedVersion, PermitDocument, PermitId, Session, SignedCheckpoint, StreamId};
use countersign_policy::{ActionHash, SessionId};

use crate::{
    StoreError,
    connection::{Connection, Database},
    engine::{self, Made},
    files::CheckpointCopy,
    log::Seal,
    request::{Call, CallError, Command, Reply},
    sqlite::Settler,
    working::{Flushed, Memory, Working},
};

/// LIMIT: how many requests wait at most; one more is refused, and nothing is done.
const QUEUE_MAX: usize = 4096;
/// LIMIT: how many requests share one transaction.
const BATCH_MAX: usize = 256;

/// The right to begin one action, once: it exists only after its transaction is durable.
///
/// There is no other way to make one than a committed decision, and it cannot be copied.
#[derive(Debug, PartialEq)]
#[must_use = "a permit that is not acted on leaves an execution in doubt"]
pub struct Permit {
    // INVARIANT: made by `answer` alone, after the commit.
    document: PermitDocument,
}

impl Permit {
    /// Its id.
    #[must_use]
    pub const fn id(&self) -> &PermitId {
        &self.document.permit_id
    }

    /// The action that may begin, and no other.
    #[must_use]
    pub const fn action_hash(&self) -> &ActionHash {
        &self.document.action_hash
    }

    /// The permit as it is shown.
    #[must_use]
    pub const fn document(&self) -> &PermitDocument {
        &self.document
    }
}

/// The answer to a command, after its transaction is durable.
#[derive(Debug, PartialEq)]
pub struct Answer {
    /// What the command gives back.
    pub reply: Reply,
    /// The permit, if an action may begin.
    pub permit: Option<Permit>,
    /// The signed end of the log that holds what was done, if anything was: for the caller to keep.
    pub checkpoint: Option<SignedCheckpoint>,
    /// How many events the log had then.
    pub log_size: u64,
    /// Whether this is the answer to an earlier request with the same name.
    pub is_replay: bool,
}

/// What is called with the answer, once.
pub type Responder = Box<dyn FnOnce(Result<Answer, CallError>) + Send>;

enum Job {
    Call(Box<Call>, Responder),
    Stop,
}

/// The one who writes: whoever calls, while nobody queues; else a thread that takes what has queued up.
pub(crate) struct Writer {
    desk: Arc<Mutex<Desk>>,
    line: Mutex<Option<Line>>,
}

/// The queue and the thread that it leads to.
struct Line {
    queue: SyncSender<Job>,
    thread: JoinHandle<()>,
    /// How many have queued and were not answered yet.
    waiting: Arc<AtomicUsize>,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

impl Writer {
    /// A writer at this connection; its thread starts with the first command that is queued.
    pub(crate) fn new(
        database: Database,
        connection: Connection,
        seal: Seal,
        copy: Option<CheckpointCopy>,
    ) -> Self {
        let desk = Desk {
            database,
            connection: Some(connection),
            seal,
            copy,
            loaded: None,
            memory: None,
            settler: None,
        };
        Self { desk: Arc::new(Mutex::new(desk)), line: Mutex::default() }
    }

    /// The writer's desk, if nobody queues and nobody sits at it: a program that calls once needs no thread for that.
    pub(crate) fn desk(&self) -> Option<MutexGuard<'_, Desk>> {
        let line = self.line.lock().ok()?;
        if line.is_some() { None } else { self.desk.try_lock().ok() }
    }

    /// The writer's desk, if nobody waits for it and nobody sits at it just now.
    pub(crate) fn free_desk(&self) -> Option<MutexGuard<'_, Desk>> {
        let line = self.line.lock().ok()?;
        let is_free = line.as_ref().is_none_or(|line| line.waiting.load(Ordering::Acquire) == 0);
        if is_free { self.desk.try_lock().ok() } else { None }
    }

    /// Queues a command; `respond` is called with its answer, also if there is no room.
    pub(crate) fn submit(&self, call: Call, respond: Responder) {
        let mut line = match self.line.lock() {
            Ok(line) => line,
            Err(_) => return respond(Err(closed().into())),
        };
        if line.is_none() {
            match Line::start(Arc::clone(&self.desk)) {
                Ok(started) => *line = Some(started),
                Err(error) => return respond(Err(error.into())),
            }
        }
        let sent = line.as_ref().map(|line| line.send(Job::Call(Box::new(call), respond)));
        match sent {
            None
            | Some(Ok(()) | Err(TrySendError::Full(Job::Stop) | TrySendError::Disconnected(Job::Stop))) => (),
            Some(Err(TrySendError::Full(Job::Call(_, respond)))) => respond(Err(StoreError::Busy.into())),
            Some(Err(TrySendError::Disconnected(Job::Call(_, respond)))) => respond(Err(closed().into())),
        }
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable { message: "the store is closed".to_owned() }
}

impl Line {
    fn start(desk: Arc<Mutex<Desk>>) -> Result<Self, StoreError> {
        let (queue, jobs) = sync_channel(QUEUE_MAX);
        let waiting = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&waiting);
        let thread = std::thread::Builder::new()
            .name("countersign-writer".to_owned())
            .spawn(move || serve(&desk, &jobs, &left))?;
        Ok(Self { queue, thread, waiting })
    }

    fn send(&self, job: Job) -> Result<(), TrySendError<Job>> {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let sent = self.queue.try_send(job);
        if sent.is_err() {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        }
        sent
    }
}

impl Drop for Writer {
    /// Lets the writer finish what has queued up.
    fn drop(&mut self) {
        let Some(Line { queue, thread, waiting: _ }) = self.line.get_mut().ok().and_then(Option::take) else {
            return;
        };
        let _gone_already = queue.send(Job::Stop);
        let _panicked = thread.join();
    }
}

/// Takes what has queued up, again and again.
fn serve(desk: &Mutex<Desk>, jobs: &Receiver<Job>, waiting: &AtomicUsize) {
    if let Ok(mut desk) = desk.lock() {
        // Without it the writer does that itself.
        let _alone = desk.settle_beside();
    }
    let mut is_open = true;
    while is_open {
        let mut batch = Vec::new();
        let first = jobs.recv().unwrap_or(Job::Stop);
        for job in std::iter::once(first).chain(jobs.try_iter()) {
            match job {
                Job::Call(call, respond) => batch.push((*call, respond)),
                Job::Stop => is_open = false,
            }
            if batch.len() >= BATCH_MAX || !is_open {
                break;
            }
        }
        let (calls, responders): (Vec<Call>, Vec<Responder>) = batch.into_iter().unzip();
        // A desk that somebody left in a panic answers nobody: those who wait hear that the writer is gone.
        let Ok(mut desk) = desk.lock() else { return };
        if !calls.is_empty() {
            let answers = desk.answer(&calls);
            waiting.fetch_sub(calls.len(), Ordering::AcqRel);
            responders.into_iter().zip(answers).for_each(|(respond, answer)| respond(answer));
        }
    }
}

/// What the writer has before it.
pub(crate) struct Desk {
    database: Database,
    connection: Option<Connection>,
    seal: Seal,
    copy: Option<CheckpointCopy>,
    loaded: Option<Arc<LoadedVersion>>,
    memory: Option<Memory>,
    settler: Option<Settler>,
}

type Done = Result<(Reply, Made), CallError>;

impl Desk {
    /// Does all of this in one transaction; the answers.
    pub(crate) fn answer(&mut self, calls: &[Call]) -> Vec<Result<Answer, CallError>> {
        match self.transact(calls) {
            Ok((done, checkpoint)) => self.answers(done, checkpoint.as_ref()),
            // Whatever a failed commit left behind is found out by opening again, never by trying again.
            Err(error) => calls.iter().map(|_| Err(error.clone().into())).collect(),
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
        // What was known by another connection's numbers is not known any more.
        self.memory = None;
        let mut connection = self.database.open()?;
        if let Some(settler) = &self.settler {
            connection.follow(settler)?;
        }
        Ok(connection)
    }

    /// Leaves it to a thread to put what is written into its place.
    fn settle_beside(&mut self) -> Result<(), StoreError> {
        self.settler = self.database.settler()?;
        if let (Some(connection), Some(settler)) = (&mut self.connection, &self.settler) {
            connection.follow(settler)?;
        }
        Ok(())
    }

    fn transact(&mut self, calls: &[Call]) -> Result<(Vec<Done>, Option<SignedCheckpoint>), StoreError> {
        let mut connection = self.open()?;
        let (seal, loaded, memory) = (&mut self.seal, self.loaded.clone(), self.memory.take());
        let (done, flushed) = connection.write(|sql| {
            let mut working = Working::new(sql, seal, loaded, memory)?;
            prefetch(&mut working, calls)?;
            let mut done = Vec::with_capacity(calls.len());
            for call in calls {
                match engine::run(&mut working, call) {
                    Err(CallError::Store(error)) => return Err(error),
                    answered @ (Ok(_) | Err(CallError::Refused(_))) => done.push(answered),
                }
            }
            Ok((done, working.flush(seal)?))
        })?;
        let Flushed { checkpoint, loaded, memory } = flushed;
        self.connection = Some(connection);
        self.loaded = loaded;
        // Only now: what a transaction that failed had learnt or changed is forgotten.
        self.memory = Some(memory);
        if let (Some(copy), Some(checkpoint)) = (&self.copy, &checkpoint) {
            copy.replace(checkpoint.as_str());
        }
        Ok((done, checkpoint))
    }

    fn answers(
        &mut self,
        done: Vec<Done>,
        checkpoint: Option<&SignedCheckpoint>,
    ) -> Vec<Result<Answer, CallError>> {
        let log_size = self.memory.as_ref().map_or(0, Memory::log_size);
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
    working.tokens.load(working.sql, &credentials.iter().map(String::as_str).collect::<Vec<_>>())?;
    working.sessions.load(working.sql, &sessions)?;
    working.approvals.load(working.sql, &approvals)?;
    working.executions.load(working.sql, &executions)?;
    let mut streams: Vec<StreamId> = working.sessions.values().map(Session::stream).collect();
    streams.extend(has_strangers.then(|| StreamId::audit(None)));
    working.prefetch(&streams, &replies)
}
