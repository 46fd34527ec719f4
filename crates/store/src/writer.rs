//! The one writer of a process: does what has queued up in one transaction, and only then answers.
//!
//! A thread writes; whoever brings a call works out its answer, as far as what is known suffices, while that thread is
//! still busy with the calls before. An answer counts, and is given, only once it is durable.

mod desk;
mod office;

pub(crate) use self::desk::Desk;

use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

use countersign_ledger::{PermitDocument, PermitId, SignedCheckpoint};
use countersign_policy::ActionHash;

use self::office::{Known, Office, Queue, Turn};
use crate::{
    StoreError,
    connection::{Connection, Database},
    copy::CheckpointCopy,
    log::Seal,
    request::{Call, CallError, Reply},
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

/// The one who writes: whoever calls, while nobody queues; else a thread that takes what has queued up.
pub(crate) struct Writer {
    room: Arc<Room>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Where the writer works. Whoever wants several locks takes them in this order, or only tries for them.
struct Room {
    desk: Mutex<Desk>,
    office: Mutex<Office>,
    queue: Mutex<Queue>,
    /// Rung for a writer that waits when there is something to do.
    bell: Condvar,
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
        let desk = Mutex::new(Desk::new(database, connection, seal, copy));
        let room = Room { desk, office: Mutex::default(), queue: Mutex::default(), bell: Condvar::new() };
        Self { room: Arc::new(room), thread: Mutex::default() }
    }

    /// The writer's desk, if nobody has ever queued and nobody sits at it: a program that calls once needs no other connection.
    pub(crate) fn desk(&self) -> Option<MutexGuard<'_, Desk>> {
        let thread = self.thread.lock().ok()?;
        if thread.is_some() { None } else { self.room.desk.try_lock().ok() }
    }

    /// Carries out a command here and now, if nobody waits and nobody writes just now.
    pub(crate) fn answer_alone(&self, call: &Call) -> Option<Result<Answer, CallError>> {
        let Room { desk, office, queue, bell: _ } = &*self.room;
        if !queue.lock().ok()?.is_quiet() {
            return None;
        }
        let mut desk = desk.try_lock().ok()?;
        let ahead = office.try_lock().ok()?.ahead.take_if(|ahead| ahead.done.is_empty());
        let (mut answers, known) = desk.answer(std::slice::from_ref(call), ahead);
        // Before the desk is free for the next one.
        self.room.learn(known);
        answers.pop()
    }

    /// Queues a command; `respond` is called with its answer, also if there is no room.
    pub(crate) fn submit(&self, call: Call, respond: Responder) {
        if let Err(error) = self.start() {
            return respond(Err(error.into()));
        }
        let Room { desk: _, office, queue, bell } = &*self.room;
        let pushed = match queue.lock() {
            Ok(mut queue) => queue.push(call, respond),
            Err(_) => Err((respond, closed())),
        };
        match pushed {
            Ok(true) => bell.notify_one(),
            Ok(false) => (),
            Err((respond, error)) => return respond(Err(error.into())),
        }
        // Whoever is at it takes what has come in the meantime; what is left over the writer takes.
        if let Ok(mut office) = office.try_lock() {
            office.work_ahead(queue);
        }
    }

    /// Starts the thread, unless it was.
    fn start(&self) -> Result<(), StoreError> {
        let mut thread = self.thread.lock().map_err(|_| closed())?;
        if thread.is_none() {
            let room = Arc::clone(&self.room);
            let started = std::thread::Builder::new().name("countersign-writer".to_owned());
            *thread = Some(started.spawn(move || room.serve())?);
        }
        Ok(())
    }
}

fn closed() -> StoreError {
    StoreError::Unavailable { message: "the store is closed".to_owned() }
}

impl Drop for Writer {
    /// Lets the writer finish what has queued up.
    fn drop(&mut self) {
        if let Ok(mut queue) = self.room.queue.lock() {
            queue.close();
        }
        self.room.bell.notify_one();
        if let Some(thread) = self.thread.get_mut().ok().and_then(Option::take) {
            let _panicked = thread.join();
        }
    }
}

impl Room {
    /// Takes what has queued up, again and again.
    fn serve(&self) {
        let _last = Leaving(self);
        if let Ok(mut desk) = self.desk.lock() {
            // Without it the writer does that itself.
            let _alone = desk.settle_beside();
        }
        // A desk or an office that somebody left in a panic answers nobody: those who wait hear that the writer is gone.
        while self.is_called() {
            let Ok(mut desk) = self.desk.lock() else { return };
            let turn = self.office.lock().map(|mut office| office.take(&self.queue));
            let Ok(Turn { calls, responders, ahead }) = turn else { return };
            let (answers, known) = desk.answer(&calls, ahead);
            self.learn(known);
            responders.into_iter().zip(answers).for_each(|(respond, answer)| respond(answer));
        }
    }

    fn learn(&self, known: Known) {
        if let Ok(mut office) = self.office.lock() {
            office.learn(known);
        }
    }

    /// Waits until there is something to do; whether there is.
    fn is_called(&self) -> bool {
        let Ok(mut queue) = self.queue.lock() else { return false };
        while queue.is_quiet() && queue.is_open() {
            queue.is_awaited = true;
            match self.bell.wait(queue) {
                Ok(woken) => queue = woken,
                Err(_) => return false,
            }
        }
        queue.is_awaited = false;
        !queue.is_quiet()
    }
}

/// Sends away those who wait when the writer goes, however it goes.
struct Leaving<'r>(&'r Room);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        // Dropped without a lock: a responder may call again.
        let waiting = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner).send_away();
        let turn = std::mem::take(&mut *self.0.office.lock().unwrap_or_else(PoisonError::into_inner));
        drop((waiting, turn));
    }
}
