//! One batch of requests: what was looked up for it, what it changes, and what is known after it.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
};

use countersign_canon::Sha256;
use countersign_ledger::{
    Approval, ApproverKey, Execution, LoadedVersion, Session, SignedCheckpoint, StreamId, Token,
};
use countersign_policy::{ApprovalRecord, EvidenceRef, ProbeFacts};

use crate::{
    StoreError,
    copy::CheckpointCopy,
    log::{Continuity, Found, Head, Seal},
    shelf::{Changes, Kept, Shelf},
    sql::{Cell, Sql, count_cell},
};

/// LIMIT: how many rows of a sort are remembered from one batch to the next.
const REMEMBERED_MAX: usize = 1024;

/// What is known after a batch, and need not be read again as long as nobody else writes.
#[derive(Debug)]
pub(crate) struct Memory {
    head: Head,
    data_version: Option<i64>,
    sessions: Shelf<Session>,
    tokens: Shelf<Token>,
    tails: BTreeMap<StreamId, i64>,
    kept_probe: Option<ProbeFacts>,
    proofs: Option<Vec<EvidenceRef>>,
    loaded: Option<Arc<LoadedVersion>>,
}

/// An answer that was given under a name.
#[derive(Debug, Clone)]
pub(crate) struct StoredReply {
    pub(crate) payload_hash: Sha256,
    /// The number of the checkpoint it was given with.
    pub(crate) checkpoint: u64,
    pub(crate) body: String,
}

/// One batch.
#[derive(Debug)]
pub(crate) struct Batch {
    data_version: Option<i64>,
    /// The end of the log before it.
    start: Head,
    pub(crate) head: Head,
    pub(crate) sessions: Shelf<Session>,
    pub(crate) approvals: Shelf<Approval>,
    pub(crate) executions: Shelf<Execution>,
    pub(crate) keys: Shelf<ApproverKey>,
    pub(crate) tokens: Shelf<Token>,
    pub(crate) loaded: Option<Arc<LoadedVersion>>,
    /// What is proved about the version in force, once it was asked for.
    pub(crate) proofs: Option<Vec<EvidenceRef>>,
    pub(crate) tails: BTreeMap<StreamId, i64>,
    pub(crate) replies: BTreeMap<String, StoredReply>,
    pub(crate) new_replies: BTreeSet<String>,
    pub(crate) new_events: Vec<Vec<Cell>>,
    pub(crate) new_decisions: Vec<Vec<Cell>>,
    // Things that are kept once, by their hash.
    pub(crate) kept: BTreeMap<(Kept, String), String>,
    pub(crate) kept_probe: Option<ProbeFacts>,
    pub(crate) all_keys: Option<Vec<ApproverKey>>,
    // Signatures that were checked already, for approvals that many ask for at once.
    pub(crate) checked: BTreeMap<String, (Approval, ApprovalRecord)>,
    // What is to be written of the rows that the next batch has already.
    handed_over: Vec<Changes>,
}

impl Batch {
    /// Starts a batch in this transaction, if the log is the one that was copied from; `loaded` is the policy version that was
    /// in force last.
    pub(crate) fn begin(
        sql: &mut dyn Sql,
        seal: &mut Seal,
        copy: Option<&CheckpointCopy>,
        loaded: Option<Arc<LoadedVersion>>,
    ) -> Result<Self, StoreError> {
        let data_version = sql.data_version()?;
        let Found { head, note, continuity: _ } = Head::load(sql, seal, None)?;
        if let Some(copy) = copy {
            copy.refuse_rollback(sql, note.as_deref())?;
        }
        Ok(Self::after(Memory { data_version, loaded, ..Memory::blank(head) }))
    }

    /// Starts a batch that knows nothing but this.
    pub(crate) fn after(memory: Memory) -> Self {
        let Memory { head, data_version, sessions, tokens, tails, kept_probe, proofs, loaded } = memory;
        Self {
            data_version,
            start: head.clone(),
            head,
            sessions,
            approvals: Shelf::new(),
            executions: Shelf::new(),
            keys: Shelf::new(),
            tokens,
            loaded,
            proofs,
            tails,
            replies: BTreeMap::new(),
            new_replies: BTreeSet::new(),
            new_events: Vec::new(),
            new_decisions: Vec::new(),
            kept: BTreeMap::new(),
            kept_probe,
            all_keys: None,
            checked: BTreeMap::new(),
            handed_over: Vec::new(),
        }
    }

    /// The batch, if what it began with is still how things are, as this transaction sees them.
    pub(crate) fn if_it_holds(
        mut self,
        sql: &mut dyn Sql,
        seal: &mut Seal,
    ) -> Result<Option<Self>, StoreError> {
        let data_version = sql.data_version()?;
        if data_version.is_some() && self.data_version == data_version {
            return Ok(Some(self));
        }
        self.data_version = data_version;
        let found = Head::load(sql, seal, Some(&self.start))?;
        Ok(Some(self).filter(|_| found.continuity == Continuity::Same))
    }

    /// How many events the log has with it.
    pub(crate) fn log_size(&self) -> u64 {
        self.head.frontier.size()
    }

    /// Ends the batch: what is known after it, for the next one, which may begin before this one is written.
    pub(crate) fn hand_over(&mut self) -> Memory {
        if !self.new_events.is_empty() {
            self.head.number = self.head.number.saturating_add(1);
        }
        self.head.active = self.loaded.as_ref().map(|loaded| loaded.version.get());
        self.handed_over = vec![self.sessions.changes(), self.tokens.changes()];
        let memory = Memory {
            head: self.head.clone(),
            data_version: self.data_version,
            sessions: mem::take(&mut self.sessions),
            tokens: mem::take(&mut self.tokens),
            tails: mem::take(&mut self.tails),
            kept_probe: self.kept_probe.take(),
            proofs: self.proofs.take(),
            loaded: self.loaded.clone(),
        };
        memory.within_bounds()
    }

    /// Writes everything down, once the batch has ended; the checkpoint that closes it, if the log has grown.
    pub(crate) fn write(
        mut self,
        sql: &mut dyn Sql,
        seal: &mut Seal,
    ) -> Result<Option<SignedCheckpoint>, StoreError> {
        let has_grown = !self.new_events.is_empty();
        let insert = |sql: &mut dyn Sql, table: &str, columns: &[&str], rows: Vec<Vec<Cell>>| {
            if rows.is_empty() { Ok(()) } else { sql.insert(table, columns, rows) }
        };
        insert(sql, "event", &["log_index", "stream_id", "seq", "body"], self.new_events)?;
        let columns = [
            "decision_id",
            "session_id",
            "decided_at",
            "policy_version",
            "policy_hash",
            "trace_version",
            "log_index",
            "body",
        ];
        insert(sql, "decision", &columns, self.new_decisions)?;
        for ((kind, hash), body) in self.kept {
            let row = vec![kind.as_str().into(), hash.into(), body.into()];
            sql.insert_new("document", &["kind", "hash", "body"], vec![row])?;
        }
        let others = [self.keys.changes(), self.approvals.changes(), self.executions.changes()];
        for changes in self.handed_over.into_iter().chain(others) {
            changes.write(sql)?;
        }
        let floor = self.head.floor;
        let new_replies = self.new_replies.into_iter().filter_map(|key| {
            let reply = self.replies.remove(&key)?;
            Some((key, reply))
        });
        let rows = new_replies.map(|(key, reply)| {
            Ok(vec![
                key.into(),
                reply.payload_hash.to_string().into(),
                count_cell(reply.checkpoint)?,
                floor.as_unix().into(),
                reply.body.into(),
            ])
        });
        let rows = rows.collect::<Result<_, StoreError>>()?;
        let columns = ["request_key", "payload_hash", "checkpoint", "answered_at", "body"];
        insert(sql, "answer", &columns, rows)?;
        if has_grown { self.head.sign(sql, seal).map(Some) } else { Ok(None) }
    }
}

impl Memory {
    /// Nothing but the end of the log.
    const fn blank(head: Head) -> Self {
        Self {
            head,
            data_version: None,
            sessions: Shelf::new(),
            tokens: Shelf::new(),
            tails: BTreeMap::new(),
            kept_probe: None,
            proofs: None,
            loaded: None,
        }
    }

    /// The same, unless it has become too much to keep.
    fn within_bounds(self) -> Self {
        let most = self.sessions.len().max(self.tokens.len()).max(self.tails.len());
        if most <= REMEMBERED_MAX {
            return self;
        }
        Self { data_version: self.data_version, loaded: self.loaded, ..Self::blank(self.head) }
    }
}
