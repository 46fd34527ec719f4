//! Verifies a log from its first entry to its last: order, content, roots, signatures, and what strangers remember.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString as _},
    vec::Vec,
};
use core::fmt;

use countersign_canon::{Code, Json, Reader, Wire as _, choice};

use crate::{
    Checkpoint, Event, Frontier, LeafHash, NoteKey, RootHash, SignedCheckpoint, StreamId, TreeHead,
    code::codes,
};

choice! {
    /// How much a verification has shown; each level includes the ones before.
    pub enum LogLevel {
        /// Every entry is an event in its right place.
        Structure = "L0",
        /// The entries have the roots that the checkpoints name.
        Root = "L1",
        /// Every checkpoint is signed, none is missing, and each extends the one before.
        Signatures = "L2",
        /// The log extends a checkpoint that was kept outside the store.
        Outside = "L3",
    }
}

/// An event as a store holds it.
#[derive(Debug, Clone, Copy)]
pub struct StoredEvent<'r> {
    /// Its place in the log, from 0.
    pub log_index: u64,
    /// The stream under which it is found.
    pub stream_id: &'r str,
    /// The place in the stream under which it is found.
    pub seq: i64,
    /// The envelope.
    pub body: &'r str,
}

/// A checkpoint as a store holds it.
#[derive(Debug, Clone, Copy)]
pub struct StoredCheckpoint<'r> {
    /// The number under which it is found.
    pub number: u64,
    /// The size under which it is found.
    pub tree_size: u64,
    /// The signed note.
    pub note: &'r str,
}

/// The first place at which a log is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFault {
    /// What kind of fault.
    pub code: Code,
    /// Where.
    pub place: LogPlace,
    /// What was found.
    pub message: String,
}

/// A place in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogPlace {
    /// The entry with this index.
    Event(u64),
    /// One of the entries from the first index up to, not with, the second: those that one checkpoint added.
    Events(u64, u64),
    /// The checkpoint with this number.
    Checkpoint(u64),
    /// The checkpoint from outside with this size.
    Outside(u64),
}

impl fmt::Display for LogPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(index) => write!(f, "event {index}"),
            Self::Events(from, until) => write!(f, "events {from} to {}", until.saturating_sub(1)),
            Self::Checkpoint(number) => write!(f, "checkpoint {number}"),
            Self::Outside(size) => write!(f, "outside checkpoint of size {size}"),
        }
    }
}

impl fmt::Display for LogFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl core::error::Error for LogFault {}

impl LogFault {
    /// The fault as a JSON object: code, place, message.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let Self { code, place, message } = self;
        Json::object([
            ("code", Json::from(*code)),
            ("place", Json::from(place.to_string())),
            ("message", Json::from(message.clone())),
        ])
    }
}

/// What a verification has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogReport {
    /// How much.
    pub level: LogLevel,
    /// The size and root of the log.
    pub head: TreeHead,
    /// How many checkpoints it has.
    pub checkpoints: u64,
}

/// A verification under way: give it every event and every checkpoint in order, then [`LogCheck::finish`].
#[derive(Debug)]
pub struct LogCheck {
    keys: Vec<NoteKey>,
    // Still to come, smallest first.
    outside: Vec<TreeHead>,
    outside_seen: u64,
    frontier: Frontier,
    streams: BTreeMap<StreamId, i64>,
    checkpoints: u64,
    checked_size: u64,
}

impl LogCheck {
    /// Starts a verification with the log's public keys and the checkpoints that were kept outside.
    ///
    /// # Errors
    ///
    /// Fails if one of the outside checkpoints is not signed by one of the keys.
    pub fn new(keys: Vec<NoteKey>, outside: &[SignedCheckpoint]) -> Result<Self, LogFault> {
        let mut heads = Vec::with_capacity(outside.len());
        for note in outside {
            let opened = note.open(&keys).map_err(|issue| {
                let size = note.claim().map_or(0, |claim| claim.head.size);
                fault(issue.code, LogPlace::Outside(size), issue.to_string())
            })?;
            heads.push(opened.head);
        }
        heads.sort_by_key(|head| (head.size, head.root));
        let mut check = Self {
            keys,
            outside: heads,
            outside_seen: 0,
            frontier: Frontier::new(),
            streams: BTreeMap::new(),
            checkpoints: 0,
            checked_size: 0,
        };
        check.compare_outside()?;
        Ok(check)
    }

    /// How many events were given so far.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// Takes the next event.
    ///
    /// # Errors
    ///
    /// Fails if it is not in its place, not an event, or found under another stream or place than its own.
    pub fn event(&mut self, row: &StoredEvent<'_>) -> Result<(), LogFault> {
        let expected = self.frontier.size();
        let refused = |code: Code, message: String| Err(fault(code, LogPlace::Event(expected), message));
        if row.log_index != expected {
            return refused(codes::LOG_ORDER, format!("found index {} in its place", row.log_index));
        }
        let event: Event = match Reader::read_document(row.body.as_bytes(), codes::URM_EVENT_INVALID) {
            Ok(event) => event,
            Err(issues) => {
                let first =
                    issues.first().map_or_else(String::new, |issue| format!("{}: {issue}", issue.pointer));
                return refused(codes::LOG_EVENT, first);
            }
        };
        if event.to_canonical() != row.body {
            return refused(codes::LOG_EVENT, "the envelope is not in its canonical form".to_string());
        }
        if event.stream_id.as_str() != row.stream_id || event.seq.get() != row.seq {
            let found = format!("found under {} {}", row.stream_id, row.seq);
            return refused(
                codes::LOG_EVENT,
                format!("{found}, it is {} {}", event.stream_id, event.seq.get()),
            );
        }
        let last = self.streams.entry(event.stream_id).or_default();
        if last.checked_add(1) != Some(row.seq) {
            // Either this event is wrong, or one before it that no checkpoint has confirmed yet.
            let place = match expected.checked_sub(self.checked_size) {
                Some(0) | None => LogPlace::Event(expected),
                Some(_) => LogPlace::Events(self.checked_size, expected.saturating_add(1)),
            };
            return Err(fault(
                codes::LOG_SEQ,
                place,
                format!("{} goes from {last} to {}", row.stream_id, row.seq),
            ));
        }
        *last = row.seq;
        self.frontier.push(LeafHash::of(row.body.as_bytes()));
        self.compare_outside()
    }

    /// Takes the next checkpoint; all events up to its size must have been given, and none after.
    ///
    /// # Errors
    ///
    /// Fails if it is not in its place, not signed, or names another root than the events have.
    pub fn checkpoint(&mut self, row: &StoredCheckpoint<'_>) -> Result<(), LogFault> {
        let place = LogPlace::Checkpoint(self.checkpoints.saturating_add(1));
        if self.checkpoints.checked_add(1) != Some(row.number) {
            return Err(fault(codes::LOG_ORDER, place, format!("found number {} in its place", row.number)));
        }
        let note = SignedCheckpoint::from_text(row.note.to_string());
        // Without keys only the roots can be compared: level L1.
        let opened = if self.keys.is_empty() { note.claim() } else { note.open(&self.keys) };
        let Checkpoint { origin: _, head, number } =
            opened.map_err(|issue| fault(issue.code, place, issue.to_string()))?;
        if number != row.number || head.size != row.tree_size {
            let found = format!("found under number {} and size {}", row.number, row.tree_size);
            let message = format!("{found}, it is number {number} of size {}", head.size);
            return Err(fault(codes::LOG_ORDER, place, message));
        }
        if head.size > self.size() {
            let message = format!("it covers {} events, there are {}", head.size, self.size());
            return Err(fault(codes::LOG_TRUNCATED, place, message));
        }
        if head.size != self.size() || head.size <= self.checked_size && self.checkpoints > 0 {
            let message = format!(
                "its size is {}, after {} and with {} events",
                head.size,
                self.checked_size,
                self.size()
            );
            return Err(fault(codes::LOG_ORDER, place, message));
        }
        if head.root != self.frontier.root() {
            let place = LogPlace::Events(self.checked_size, head.size);
            let message =
                format!("their root is {}, checkpoint {number} signed {}", self.frontier.root(), head.root);
            return Err(fault(codes::LOG_ROOT, place, message));
        }
        self.checkpoints = number;
        self.checked_size = head.size;
        Ok(())
    }

    /// Ends the verification.
    ///
    /// # Errors
    ///
    /// Fails if events follow the last checkpoint, and if the log is shorter than an outside checkpoint.
    pub fn finish(self) -> Result<LogReport, LogFault> {
        if self.size() > self.checked_size {
            let place = LogPlace::Events(self.checked_size, self.size());
            return Err(fault(codes::LOG_UNSIGNED, place, "no checkpoint covers them".to_string()));
        }
        if let Some(head) = self.outside.first() {
            let message = format!("it covers {} events, the log has {}", head.size, self.size());
            return Err(fault(codes::LOG_ROLLED_BACK, LogPlace::Outside(head.size), message));
        }
        let level = match (self.keys.is_empty(), self.outside_seen) {
            (true, _) => LogLevel::Root,
            (false, 0) => LogLevel::Signatures,
            (false, _) => LogLevel::Outside,
        };
        let head = TreeHead { size: self.frontier.size(), root: self.frontier.root() };
        Ok(LogReport { level, head, checkpoints: self.checkpoints })
    }

    /// Compares the root with the outside checkpoints of just this size.
    fn compare_outside(&mut self) -> Result<(), LogFault> {
        while let Some(head) = self.outside.first().copied().filter(|head| head.size == self.size()) {
            let root: RootHash = self.frontier.root();
            if head.root != root {
                let message = format!("it names the root {}, the events have {root}", head.root);
                return Err(fault(codes::LOG_FORKED, LogPlace::Outside(head.size), message));
            }
            self.outside.remove(0);
            self.outside_seen = self.outside_seen.saturating_add(1);
        }
        Ok(())
    }
}

fn fault(code: Code, place: LogPlace, message: String) -> LogFault {
    LogFault { code, place, message }
}

#[cfg(test)]
mod tests;
