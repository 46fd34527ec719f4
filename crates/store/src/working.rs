//! What one batch reads and changes: looked up in the transaction, changed in memory, written back at the end.
//!
//! A request that is refused has changed nothing: every engine function makes its checks before its first change.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use countersign_canon::{Json, Object, Sha256, Timestamp, Wire};
use countersign_ledger::{
    Activation, Approval, ApproverKey, DecisionRecord, Execution, LeafHash, LoadedVersion, NewEvent,
    PolicyVersion, Seq, Session, SignedCheckpoint, StreamId, Token,
};
use countersign_policy::{ApprovalRecord, EvidenceRef, ProbeFacts};

use crate::{
    StoreError,
    log::{Continuity, Head, Seal},
    request::Refusal,
    shelf::{Kept, Shelf, among, read_body, read_rows},
    sql::{Cell, Sql, count_cell},
};

/// LIMIT: how far the clock may step back and still be taken for the end of the log.
const CLOCK_BACK_S_MAX: i64 = 2;

/// LIMIT: how many rows of a sort are remembered from one batch to the next.
const REMEMBERED_MAX: usize = 1024;

/// What a writer knows after a batch, and need not read again as long as nobody else writes.
#[derive(Debug)]
pub(crate) struct Memory {
    head: Head,
    data_version: Option<i64>,
    sessions: Shelf<Session>,
    tokens: Shelf<Token>,
    tails: BTreeMap<StreamId, i64>,
    kept_probe: Option<ProbeFacts>,
    proofs: Option<Vec<EvidenceRef>>,
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
pub(crate) struct Working<'t> {
    pub(crate) sql: &'t mut dyn Sql,
    data_version: Option<i64>,
    pub(crate) head: Head,
    pub(crate) sessions: Shelf<Session>,
    pub(crate) approvals: Shelf<Approval>,
    pub(crate) executions: Shelf<Execution>,
    pub(crate) keys: Shelf<ApproverKey>,
    pub(crate) tokens: Shelf<Token>,
    pub(crate) loaded: Option<Arc<LoadedVersion>>,
    /// What is proved about the version in force, once it was asked for.
    pub(crate) proofs: Option<Vec<EvidenceRef>>,
    tails: BTreeMap<StreamId, i64>,
    replies: BTreeMap<String, StoredReply>,
    new_replies: BTreeSet<String>,
    new_events: Vec<Vec<Cell>>,
    new_decisions: Vec<Vec<Cell>>,
    // Things that are kept once, by their hash.
    kept: BTreeMap<(Kept, String), String>,
    kept_probe: Option<ProbeFacts>,
    all_keys: Option<Vec<ApproverKey>>,
    // Signatures that were checked already, for approvals that many ask for at once.
    checked: BTreeMap<String, (Approval, ApprovalRecord)>,
}

impl<'t> Working<'t> {
    /// Starts a batch in this transaction; `loaded` is the policy version that was in force last, `memory` what was
    /// known then.
    pub(crate) fn new(
        sql: &'t mut dyn Sql,
        seal: &mut Seal,
        loaded: Option<Arc<LoadedVersion>>,
        memory: Option<Memory>,
    ) -> Result<Self, StoreError> {
        let data_version = sql.data_version()?;
        let Memory { head, sessions, tokens, tails, kept_probe, proofs, .. } = match memory {
            Some(memory) if data_version.is_some() && memory.data_version == data_version => memory,
            memory => {
                let (head, continuity) = Head::load(sql, seal, memory.as_ref().map(|memory| &memory.head))?;
                memory.filter(|_| continuity == Continuity::Same).unwrap_or_else(|| Memory::blank(head))
            }
        };
        let mut working = Self {
            sql,
            data_version,
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
        };
        working.load_active()?;
        Ok(working)
    }

    /// The instant of a request: never before what the log has seen.
    pub(crate) fn clock(&self, now: Timestamp) -> Result<Timestamp, Refusal> {
        let floor = self.head.floor;
        let is_behind = now.plus_seconds(CLOCK_BACK_S_MAX).is_some_and(|soon| soon < floor);
        if is_behind { Err(Refusal::ClockBack { now, floor }) } else { Ok(now.max(floor)) }
    }

    /// Reads, in one query each, the ends of streams and the names of requests that the batch will want.
    pub(crate) fn prefetch(&mut self, streams: &[StreamId], replies: &[String]) -> Result<(), StoreError> {
        let mut new: Vec<&StreamId> =
            streams.iter().filter(|stream| !self.tails.contains_key(stream)).collect();
        new.dedup();
        // One look at the end of the index for each stream, however long it is.
        if let [stream] = new[..] {
            let query = "SELECT COALESCE(MAX(seq), 0) FROM event WHERE stream_id = $1";
            let rows = self.sql.query(query, &[stream.as_str().into()])?;
            let last = rows.first().map_or(Ok(0), |row| row.integer(0))?;
            self.tails.insert(stream.clone(), last);
        } else if !new.is_empty() {
            let query = format!(
                "SELECT value, (SELECT COALESCE(MAX(seq), 0) FROM event WHERE stream_id = value) FROM {} AS stream",
                self.sql.in_list()
            );
            let list = Json::array(new.into_iter().map(StreamId::as_str)).to_canonical();
            for row in self.sql.query(&query, &[list.into()])? {
                if let Ok(stream) = StreamId::parse(row.text(0)?) {
                    self.tails.insert(stream, row.integer(1)?);
                }
            }
        }
        if !replies.is_empty() {
            let (among, keys) = among(self.sql, &replies.iter().map(String::as_str).collect::<Vec<_>>());
            let query = format!(
                "SELECT request_key, payload_hash, checkpoint, body FROM answer WHERE request_key {among}"
            );
            for row in self.sql.query(&query, &[keys])? {
                let payload_hash = Sha256::parse(row.text(1)?)
                    .map_err(|_| StoreError::corrupt("a reply has no payload hash"))?;
                let reply =
                    StoredReply { payload_hash, checkpoint: row.count(2)?, body: row.text(3)?.to_owned() };
                self.replies.insert(row.text(0)?.to_owned(), reply);
            }
        }
        Ok(())
    }

    /// The answer that was given under this name; the names of a batch are fetched before it.
    pub(crate) fn reply(&self, key: &str) -> Option<&StoredReply> {
        self.replies.get(key)
    }

    /// Keeps an answer under its name.
    pub(crate) fn keep_reply(&mut self, key: String, payload_hash: Sha256, body: String) {
        let checkpoint = self.head.number.saturating_add(1);
        self.replies.insert(key.clone(), StoredReply { payload_hash, checkpoint, body });
        self.new_replies.insert(key);
    }

    /// Appends an event to its stream and to the log; its place in the stream.
    pub(crate) fn emit<D: Wire>(&mut self, event: &NewEvent<D>) -> Result<Seq, StoreError> {
        if !self.tails.contains_key(&event.stream_id) {
            self.prefetch(std::slice::from_ref(&event.stream_id), &[])?;
        }
        let last = self.tails.get(&event.stream_id).copied().unwrap_or_default();
        let seq = last.checked_add(1).and_then(Seq::new);
        let seq = seq.ok_or_else(|| StoreError::corrupt(format!("{} ends at {last}", event.stream_id)))?;
        let body = event.spell_at(seq);
        let index = count_cell(self.head.frontier.size())?;
        self.head.frontier.push(LeafHash::of(body.as_bytes()));
        self.head.floor = self.head.floor.max(event.ts);
        self.new_events.push(vec![index, event.stream_id.as_str().into(), seq.get().into(), body.into()]);
        match self.tails.get_mut(&event.stream_id) {
            Some(tail) => *tail = seq.get(),
            None => drop(self.tails.insert(event.stream_id.clone(), seq.get())),
        }
        Ok(seq)
    }

    /// Keeps a decision with its canonical body; `log_index` is that of the event that carries its hash.
    pub(crate) fn keep_decision(
        &mut self,
        record: &DecisionRecord,
        body: String,
        log_index: u64,
    ) -> Result<(), StoreError> {
        self.new_decisions.push(vec![
            record.decision_id.as_str().into(),
            record.session_id.as_ref().map(|id| id.as_str()).into(),
            record.context.evaluation_ts.as_unix().into(),
            record.policy_version.get().into(),
            record.policy_hash.to_string().into(),
            record.trace_version.as_str().into(),
            count_cell(log_index)?,
            body.into(),
        ]);
        Ok(())
    }

    /// Keeps something once, by its hash.
    pub(crate) fn keep(&mut self, kind: Kept, hash: String, body: String) {
        self.kept.insert((kind, hash), body);
    }

    pub(crate) fn keep_probe(&mut self, probe: &ProbeFacts) {
        // Most decisions of a batch were probed alike.
        if self.kept_probe.as_ref() != Some(probe) {
            self.keep(Kept::Probe, probe.hash().to_string(), probe.to_canonical());
            self.kept_probe = Some(probe.clone());
        }
    }

    /// Every registered key of an approver.
    pub(crate) fn all_keys(&mut self) -> Result<Vec<ApproverKey>, StoreError> {
        if self.all_keys.is_none() {
            let rows = self.sql.query("SELECT body FROM approver_key ORDER BY key_id", &[])?;
            self.all_keys = Some(read_rows(&rows)?);
        }
        let changed: BTreeMap<String, ApproverKey> =
            self.keys.values().map(|key| (key.key_id.to_string(), key.clone())).collect();
        let stored = self.all_keys.iter().flatten().map(|key| (key.key_id.to_string(), key.clone()));
        Ok(stored.chain(changed).collect::<BTreeMap<_, _>>().into_values().collect())
    }

    /// What the kernel is told about an approval; the same approval is checked once in a batch.
    pub(crate) fn record_of(&mut self, approval: &Approval) -> Result<ApprovalRecord, StoreError> {
        let key = approval.approval_id.as_str();
        if let Some((_, record)) = self.checked.get(key).filter(|(checked, _)| checked == approval) {
            return Ok(record.clone());
        }
        let record = approval.record(&self.all_keys()?);
        self.checked.insert(key.to_owned(), (approval.clone(), record.clone()));
        Ok(record)
    }

    /// Notes what a key is to be; what was checked with the keys before is checked again.
    pub(crate) fn put_key(&mut self, key: ApproverKey) {
        self.checked.clear();
        self.keys.put(key);
    }

    fn load_active(&mut self) -> Result<(), StoreError> {
        let Some(version) = self.head.active else {
            self.loaded = None;
            return Ok(());
        };
        if self.loaded.as_ref().is_some_and(|loaded| loaded.version.get() == version) {
            return Ok(());
        }
        let stored = self.version(version)?;
        let stored =
            stored.ok_or_else(|| StoreError::corrupt(format!("policy version {version} is missing")))?;
        let loaded = LoadedVersion::load(&stored).map_err(StoreError::corrupt)?;
        self.loaded = Some(Arc::new(loaded));
        Ok(())
    }

    /// A policy version by its number.
    pub(crate) fn version(&mut self, version: i64) -> Result<Option<PolicyVersion>, StoreError> {
        let query = "SELECT body FROM policy_version WHERE version = $1";
        let rows = self.sql.query(query, &[version.into()])?;
        rows.first().map(|row| read_body(row.text(0)?)).transpose()
    }

    /// Puts a policy version in force at once, for the rest of the batch too.
    pub(crate) fn put_in_force(
        &mut self,
        new: Option<&PolicyVersion>,
        activation: &Activation,
        loaded: LoadedVersion,
    ) -> Result<(), StoreError> {
        if let Some(version) = new {
            let PolicyVersion { policy_hash, lattice_hash, allow_hash, .. } = version;
            let hashes = [policy_hash.to_string(), lattice_hash.to_string(), allow_hash.to_string()];
            let row = [version.version.get().into()].into_iter().chain(hashes.map(Cell::from));
            let row = row.chain([version.to_canonical().into()]).collect();
            let columns = ["version", "policy_hash", "lattice_hash", "allow_hash", "body"];
            self.sql.insert("policy_version", &columns, vec![row])?;
        }
        let body = activation.to_canonical();
        let row = vec![activation.number.get().into(), activation.version.get().into(), body.into()];
        self.sql.insert("activation", &["number", "version", "body"], vec![row])?;
        self.loaded = Some(Arc::new(loaded));
        self.proofs = None;
        Ok(())
    }

    /// Writes everything down.
    pub(crate) fn flush(mut self, seal: &mut Seal) -> Result<Flushed, StoreError> {
        let has_grown = !self.new_events.is_empty();
        let insert = |sql: &mut dyn Sql, table: &str, columns: &[&str], rows: Vec<Vec<Cell>>| {
            if rows.is_empty() { Ok(()) } else { sql.insert(table, columns, rows) }
        };
        insert(self.sql, "event", &["log_index", "stream_id", "seq", "body"], self.new_events)?;
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
        insert(self.sql, "decision", &columns, self.new_decisions)?;
        for ((kind, hash), body) in self.kept {
            let row = vec![kind.as_str().into(), hash.into(), body.into()];
            self.sql.insert_new("document", &["kind", "hash", "body"], vec![row])?;
        }
        self.sessions.flush(self.sql)?;
        self.keys.flush(self.sql)?;
        self.tokens.flush(self.sql)?;
        self.approvals.flush(self.sql)?;
        self.executions.flush(self.sql)?;
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
        insert(self.sql, "answer", &columns, rows)?;
        let checkpoint = if has_grown { Some(self.head.sign(self.sql, seal)?) } else { None };
        let Self { head, data_version, sessions, tokens, tails, kept_probe, proofs, loaded, .. } = self;
        let mut memory = Memory { head, data_version, sessions, tokens, tails, kept_probe, proofs };
        memory.head.active = loaded.as_ref().map(|loaded| loaded.version.get());
        Ok(Flushed { checkpoint, loaded, memory: memory.within_bounds() })
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
        }
    }

    /// How many events the log has.
    pub(crate) fn log_size(&self) -> u64 {
        self.head.frontier.size()
    }

    /// The same, unless it has become too much to keep.
    fn within_bounds(self) -> Self {
        let most = self.sessions.len().max(self.tokens.len()).max(self.tails.len());
        if most > REMEMBERED_MAX { Self::blank(self.head) } else { self }
    }
}

/// What a batch leaves behind.
pub(crate) struct Flushed {
    /// The checkpoint that closes it, if the log has grown.
    pub(crate) checkpoint: Option<SignedCheckpoint>,
    /// The policy version in force.
    pub(crate) loaded: Option<Arc<LoadedVersion>>,
    /// What is known now, once it is durable.
    pub(crate) memory: Memory,
}

/// The object of a document that is one; an empty one otherwise.
pub(crate) fn object_of(json: &Json<'static>) -> Object<'static> {
    json.as_object().cloned().unwrap_or_default()
}
