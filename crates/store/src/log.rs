//! The end of the Merkle log: what must be known to append to it, and the checkpoint that closes a batch.

use countersign_canon::{Sha256, Timestamp};
use countersign_ledger::{
    Checkpoint, Frontier, KeyName, LeafHash, NoteKey, SecretKey, SignedCheckpoint, TreeHead,
};

use crate::{
    StoreError,
    sql::{Cell, Row, Sql, count_cell},
};

/// LIMIT: how many rows one query of a walk through the log gives.
pub(crate) const WALK_ROWS: u32 = 10_000;

/// What signs the log, and what its signatures are checked with.
#[derive(Debug)]
pub(crate) struct Seal {
    /// The key of this process.
    pub(crate) key: SecretKey,
    /// The public keys of all processes that write to the log, once the last checkpoint was not by this one.
    pub(crate) keys: Vec<NoteKey>,
    /// The last checkpoint that this process signed itself.
    pub(crate) last: Option<SignedCheckpoint>,
}

/// The public keys that are registered for the log.
pub(crate) fn load_keys(sql: &mut dyn Sql) -> Result<Vec<NoteKey>, StoreError> {
    let rows = sql.query("SELECT note_key FROM log_key ORDER BY note_key", &[])?;
    let read = |row: &Row| {
        NoteKey::parse(row.text(0)?)
            .map_err(|issue| StoreError::corrupt(format!("a key of the log: {issue}")))
    };
    rows.iter().map(read).collect()
}

/// The name of the log: that of its first key, else this one.
pub(crate) fn load_origin(sql: &mut dyn Sql, otherwise: KeyName) -> Result<KeyName, StoreError> {
    Ok(load_keys(sql)?.into_iter().next().map_or(otherwise, |key| key.name))
}

/// Whether the key of this process is registered.
pub(crate) fn knows_key(sql: &mut dyn Sql, key: &SecretKey) -> Result<bool, StoreError> {
    let query = "SELECT 1 FROM log_key WHERE note_key = $1";
    Ok(!sql.query(query, &[key.public().to_string().into()])?.is_empty())
}

/// Registers the key of this process, unless it is.
pub(crate) fn register_key(sql: &mut dyn Sql, key: &SecretKey, now: Timestamp) -> Result<(), StoreError> {
    if knows_key(sql, key)? {
        return Ok(());
    }
    let row = vec![key.public().to_string().into(), now.to_string().into()];
    sql.insert("log_key", &["note_key", "created_at"], vec![row])
}

/// Whether the store is as this process left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuity {
    /// It is: what is remembered still holds.
    Same,
    /// Somebody else may have changed it.
    Unknown,
}

/// The end of the log as it was found.
pub(crate) struct Found {
    pub(crate) head: Head,
    pub(crate) continuity: Continuity,
    /// The last checkpoint, if there is one.
    pub(crate) note: Option<String>,
}

/// The end of the log.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// The tree.
    pub(crate) frontier: Frontier,
    /// The number of the last checkpoint.
    pub(crate) number: u64,
    /// The latest instant in the log.
    pub(crate) floor: Timestamp,
    /// The policy version in force, if one is.
    pub(crate) active: Option<i64>,
}

impl Head {
    /// Reads the end of the log, inside the transaction that will append to it. If it is as this process left it, with
    /// the head that it remembers, nobody has changed anything in between: every change is an event.
    pub(crate) fn load(
        sql: &mut dyn Sql,
        seal: &mut Seal,
        remembered: Option<&Self>,
    ) -> Result<Found, StoreError> {
        // One look at the end of a tree each: a join would make a table of its own in between.
        let query = "SELECT (SELECT COALESCE(MAX(log_index), -1) + 1 FROM event),
            (SELECT version FROM activation ORDER BY number DESC LIMIT 1),
            (SELECT note FROM checkpoint ORDER BY number DESC LIMIT 1),
            (SELECT peaks FROM checkpoint ORDER BY number DESC LIMIT 1),
            (SELECT ts FROM checkpoint ORDER BY number DESC LIMIT 1)";
        let rows = sql.query(query, &[])?;
        let row = rows.first().ok_or_else(|| StoreError::corrupt("the log has no end"))?;
        let (size, active) = (row.count(0)?, row.integer(1).ok());
        let remembered = remembered.filter(|head| head.active == active && head.is_last(row, seal));
        let head = if let Some(head) = remembered {
            head.clone()
        } else if row.is_null(2) {
            // A store from before there were checkpoints.
            Self { frontier: walk(sql)?, number: 0, floor: Timestamp::UNIX_EPOCH, active }
        } else {
            Self { active, ..Self::read(row, seal, sql)? }
        };
        if head.frontier.size() == size {
            let continuity = if remembered.is_some() { Continuity::Same } else { Continuity::Unknown };
            return Ok(Found { head, continuity, note: row.text(2).ok().map(str::to_owned) });
        }
        let covered = head.frontier.size();
        Err(StoreError::corrupt(format!("the log has {size} events, its last checkpoint covers {covered}")))
    }

    /// Whether this is the row that this process wrote last, when it left the log with this head.
    fn is_last(&self, row: &Row, seal: &Seal) -> bool {
        let is_own =
            seal.last.as_ref().is_some_and(|last| row.text(2).is_ok_and(|note| note == last.as_str()));
        is_own
            && row.text(3).is_ok_and(|peaks| peaks == self.peaks())
            && row.integer(4).is_ok_and(|ts| ts == self.floor.as_unix())
    }

    /// The peaks of the tree, as they are written down.
    fn peaks(&self) -> String {
        self.frontier.peaks().iter().map(Sha256::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Believes the last checkpoint only if it is signed and is what the rest of its row says.
    fn read(row: &Row, seal: &mut Seal, sql: &mut dyn Sql) -> Result<Self, StoreError> {
        let note = SignedCheckpoint::from_text(row.text(2)?.to_owned());
        let damaged = |message: String| StoreError::corrupt(format!("the last checkpoint: {message}"));
        let is_own = seal.last.as_ref() == Some(&note) || note.is_by(&seal.key);
        if !is_own && note.open(&seal.keys).is_err() {
            // Another process may have brought a key of its own.
            seal.keys = load_keys(sql)?;
            note.open(&seal.keys).map_err(|issue| damaged(issue.to_string()))?;
        }
        let claim = note.claim().map_err(|issue| damaged(issue.to_string()))?;
        let frontier = read_frontier(claim.head.size, row.text(3)?)?;
        if frontier.root() != claim.head.root {
            return Err(damaged("its peaks have another root".to_owned()));
        }
        let floor =
            Timestamp::from_unix(row.integer(4)?).ok_or_else(|| damaged("it has no time".to_owned()))?;
        Ok(Self { frontier, number: claim.number, floor, active: None })
    }

    /// Signs the log as it is now and writes the checkpoint down.
    pub(crate) fn sign(&self, sql: &mut dyn Sql, seal: &mut Seal) -> Result<SignedCheckpoint, StoreError> {
        let key = &seal.key;
        let head = TreeHead { size: self.frontier.size(), root: self.frontier.root() };
        let checkpoint = Checkpoint { origin: key.public().name, head, number: self.number };
        let note = checkpoint.sign(key);
        let row: Vec<Cell> = vec![
            count_cell(self.number)?,
            count_cell(head.size)?,
            note.as_str().into(),
            self.peaks().into(),
            self.floor.as_unix().into(),
        ];
        sql.insert("checkpoint", &["number", "tree_size", "note", "peaks", "ts"], vec![row])?;
        sql.announce(head.size);
        seal.last = Some(note.clone());
        Ok(note)
    }
}

fn read_frontier(size: u64, peaks: &str) -> Result<Frontier, StoreError> {
    let peaks = peaks.split_whitespace().map(Sha256::parse).collect::<Result<_, _>>();
    let frontier = peaks.ok().and_then(|peaks| Frontier::from_parts(size, peaks));
    frontier.ok_or_else(|| StoreError::corrupt(format!("the checkpoint of size {size} has other peaks")))
}

/// The tree of all events, from the first to the last.
fn walk(sql: &mut dyn Sql) -> Result<Frontier, StoreError> {
    let mut frontier = Frontier::new();
    let limit = i64::from(WALK_ROWS);
    loop {
        let from = count_cell(frontier.size())?;
        let query = "SELECT body FROM event WHERE log_index >= $1 ORDER BY log_index LIMIT $2";
        let rows = sql.query(query, &[from, limit.into()])?;
        if rows.is_empty() {
            return Ok(frontier);
        }
        for row in rows {
            frontier.push(LeafHash::of(row.text(0)?.as_bytes()));
        }
    }
}
