//! Where calls wait for the writer, and are worked out meanwhile from what is known.

use std::{collections::VecDeque, sync::Mutex};

use super::{BATCH_MAX, QUEUE_MAX, Responder, closed};
use crate::{
    StoreError,
    batch::{Batch, Memory},
    engine::{self, Made},
    migration::Table,
    request::{Call, CallError, Command, Reply},
    sql::{Cell, Row, Sql},
    working::Working,
};

/// What comes of a call, before its transaction is durable.
pub(super) type Done = Result<(Reply, Made), CallError>;

type Waiting = (Call, Responder);

/// The calls that wait.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<Waiting>,
    /// How many of those who wait have left the queue for the next turn.
    called: usize,
    /// Whether the writer waits for a call.
    pub(super) is_awaited: bool,
    is_closed: bool,
}

impl Queue {
    /// Whether nobody waits.
    pub(super) fn is_quiet(&self) -> bool {
        self.waiting.is_empty() && self.called == 0
    }

    pub(super) fn is_open(&self) -> bool {
        !self.is_closed
    }

    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Closes; those who wait.
    pub(super) fn send_away(&mut self) -> VecDeque<Waiting> {
        self.close();
        std::mem::take(&mut self.waiting)
    }

    /// Takes a call; whether the writer is to be told. Gives the responder back if there is no room.
    pub(super) fn push(&mut self, call: Call, respond: Responder) -> Result<bool, (Responder, StoreError)> {
        if self.is_closed {
            return Err((respond, closed()));
        }
        if self.waiting.len().saturating_add(self.called) >= QUEUE_MAX {
            return Err((respond, StoreError::Busy));
        }
        self.waiting.push_back((call, respond));
        Ok(std::mem::take(&mut self.is_awaited))
    }

    fn call_next(&mut self) -> Option<Waiting> {
        let next = self.waiting.pop_front()?;
        self.called = self.called.saturating_add(1);
        Some(next)
    }
}

/// From how many calls in a turn on the next one is not worked out ahead. That pays while processors would only wait for the
/// disk; where so many calls come they have enough to do, and the fewer turns there are the better.
const CROWD_MIN: usize = 32;

/// The next turn of the writer, as far as it is worked out.
#[derive(Default)]
pub(super) struct Office {
    calls: Vec<Call>,
    responders: Vec<Responder>,
    /// Whether the last turn was a crowd.
    is_crowded: bool,
    /// The answers to the first of the calls, if the end of the log is known.
    pub(super) ahead: Option<Ahead>,
}

/// What the writer takes at a time.
pub(super) struct Turn {
    pub(super) calls: Vec<Call>,
    pub(super) responders: Vec<Responder>,
    pub(super) ahead: Option<Ahead>,
}

/// What is known after a turn.
pub(super) enum Known {
    /// This.
    Now(Box<Memory>),
    /// What the turn had handed over before it was written.
    AsHandedOver,
    /// Nothing for sure.
    Nothing,
}

impl Office {
    /// Works out what waits, in its order, as far as that is possible.
    pub(super) fn work_ahead(&mut self, queue: &Mutex<Queue>) {
        while let Some(ahead) = &mut self.ahead
            && !self.is_crowded
            && ahead.done.len() < BATCH_MAX
        {
            if ahead.done.len() == self.calls.len() {
                let next = queue.lock().map_or(None, |mut queue| queue.call_next());
                let Some((call, respond)) = next else { return };
                self.calls.push(call);
                self.responders.push(respond);
            }
            let Some(call) = self.calls.get(ahead.done.len()) else { return };
            match ahead.work_out(call) {
                Attempt::Done(done) => ahead.done.push(done),
                Attempt::NotKnown => return,
                Attempt::Spoilt => self.ahead = None,
            }
        }
    }

    /// The next turn. If all of it was worked out, the calls after it can be, while it is written.
    pub(super) fn take(&mut self, queue: &Mutex<Queue>) -> Turn {
        self.work_ahead(queue);
        if let Ok(mut queue) = queue.lock() {
            while self.calls.len() < BATCH_MAX
                && let Some((call, respond)) = queue.call_next()
            {
                self.calls.push(call);
                self.responders.push(respond);
            }
            queue.called = 0;
        }
        let (calls, responders) = (std::mem::take(&mut self.calls), std::mem::take(&mut self.responders));
        self.is_crowded = calls.len() >= CROWD_MIN;
        let mut ahead = self.ahead.take();
        if let Some(ahead) = ahead.as_mut().filter(|ahead| ahead.done.len() == calls.len()) {
            let memory = ahead.batch.hand_over();
            self.learn(Known::Now(Box::new(memory)));
        }
        Turn { calls, responders, ahead }
    }

    /// Notes what is known now.
    pub(super) fn learn(&mut self, known: Known) {
        match known {
            Known::Now(memory) => self.ahead = Some(Ahead::new(*memory)),
            Known::AsHandedOver => (),
            Known::Nothing => self.ahead = None,
        }
    }
}

/// Answers that were worked out before the transaction in which they count: it begins by asking whether what they rest
/// on still holds. If not, they are forgotten, and the calls carried out in the transaction.
pub(super) struct Ahead {
    pub(super) batch: Batch,
    pub(super) done: Vec<Done>,
}

enum Attempt {
    Done(Done),
    /// It takes a look into the database.
    NotKnown,
    /// It does, and the batch has changed before that came out.
    Spoilt,
}

impl Ahead {
    fn new(memory: Memory) -> Self {
        Self { batch: Batch::after(memory), done: Vec::new() }
    }

    fn work_out(&mut self, call: &Call) -> Attempt {
        // Whether a name was used before stands in the database.
        let is_nameless =
            matches!(&call.command, Command::Decide(decide) if decide.client_request_id.is_none());
        if !is_nameless {
            return Attempt::NotKnown;
        }
        let size = self.batch.log_size();
        let mut nowhere = Nowhere { was_asked: false };
        let done = engine::run(&mut Working { sql: &mut nowhere, batch: &mut self.batch }, call);
        match done {
            done if !nowhere.was_asked && !matches!(done, Err(CallError::Store(_))) => Attempt::Done(done),
            // Every change is an event.
            _ if self.batch.log_size() == size => Attempt::NotKnown,
            _ => Attempt::Spoilt,
        }
    }
}

/// A database that says nothing, but remembers that it was asked.
struct Nowhere {
    was_asked: bool,
}

impl Nowhere {
    fn nothing<T>(&mut self) -> Result<T, StoreError> {
        self.was_asked = true;
        Err(StoreError::Unavailable { message: "not asked yet".to_owned() })
    }
}

impl Sql for Nowhere {
    fn execute(&mut self, _: &str, _: &[Cell]) -> Result<u64, StoreError> {
        self.nothing()
    }

    fn query(&mut self, _: &str, _: &[Cell]) -> Result<Vec<Row>, StoreError> {
        self.nothing()
    }

    fn insert(&mut self, _: &str, _: &[&str], _: Vec<Vec<Cell>>) -> Result<(), StoreError> {
        self.nothing()
    }

    fn insert_new(&mut self, _: &str, _: &[&str], _: Vec<Vec<Cell>>) -> Result<(), StoreError> {
        self.nothing()
    }

    fn create_table(&mut self, _: &Table) -> Result<(), StoreError> {
        self.nothing()
    }

    fn in_list(&self) -> &'static str {
        ""
    }

    fn data_version(&mut self) -> Result<Option<i64>, StoreError> {
        self.nothing()
    }

    fn announce(&mut self, _: u64) {
        self.was_asked = true;
    }
}
