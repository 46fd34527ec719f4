//! What one batch reads and changes: looked up in the transaction, changed in memory, written back at the end.
//!
//! A request that is refused has changed nothing: every engine function makes its checks before its first change.

use std::{collections::BTreeMap, sync::Arc};

use countersign_canon::{Json, Object, Sha256, Timestamp, Wire};
use countersign_ledger::{
    Activation, Approval, ApproverKey, DecisionRecord, LeafHash, LoadedVersion, NewEvent, PolicyVersion, Seq,
    StreamId,
};
use countersign_policy::{ApprovalRecord, ProbeFacts};

use crate::{
    StoreError,
    batch::{Batch, StoredReply},
    request::Refusal,
    shelf::{Kept, among, read_body, read_rows},
    sql::{Cell, Sql, count_cell},
};

/// LIMIT: how far the clock may step back and still be taken for the end of the log.
const CLOCK_BACK_S_MAX: i64 = 2;

/// A batch, and the transaction in which it looks things up.
pub(crate) struct Working<'t> {
    pub(crate) sql: &'t mut dyn Sql,
    pub(crate) batch: &'t mut Batch,
}

impl<'t> Working<'t> {
    /// Goes on with a batch in this transaction, under the policy version that is in force.
    pub(crate) fn resume(sql: &'t mut dyn Sql, batch: &'t mut Batch) -> Result<Self, StoreError> {
        let mut working = Self { sql, batch };
        working.load_active()?;
        Ok(working)
    }

    /// The instant of a request: never before what the log has seen.
    pub(crate) fn clock(&self, now: Timestamp) -> Result<Timestamp, Refusal> {
        let floor = self.batch.head.floor;
        let is_behind = now.plus_seconds(CLOCK_BACK_S_MAX).is_some_and(|soon| soon < floor);
        if is_behind { Err(Refusal::ClockBack { now, floor }) } else { Ok(now.max(floor)) }
    }

    /// Reads, in one query each, the ends of streams and the names of requests that the batch will want.
    pub(crate) fn prefetch(&mut self, streams: &[StreamId], replies: &[String]) -> Result<(), StoreError> {
        let mut new: Vec<&StreamId> =
            streams.iter().filter(|stream| !self.batch.tails.contains_key(stream)).collect();
        new.dedup();
        // One look at the end of the index for each stream, however long it is.
        if let [stream] = new[..] {
            let query = "SELECT COALESCE(MAX(seq), 0) FROM event WHERE stream_id = $1";
            let rows = self.sql.query(query, &[stream.as_str().into()])?;
            let last = rows.first().map_or(Ok(0), |row| row.integer(0))?;
            self.batch.tails.insert(stream.clone(), last);
        } else if !new.is_empty() {
            let query = format!(
                "SELECT value, (SELECT COALESCE(MAX(seq), 0) FROM event WHERE stream_id = value) FROM {} AS stream",
                self.sql.in_list()
            );
            let list = Json::array(new.into_iter().map(StreamId::as_str)).to_canonical();
            for row in self.sql.query(&query, &[list.into()])? {
                if let Ok(stream) = StreamId::parse(row.text(0)?) {
                    self.batch.tails.insert(stream, row.integer(1)?);
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
                self.batch.replies.insert(row.text(0)?.to_owned(), reply);
            }
        }
        Ok(())
    }

    /// The answer that was given under this name; the names of a batch are fetched before it.
    pub(crate) fn reply(&self, key: &str) -> Option<&StoredReply> {
        self.batch.replies.get(key)
    }

    /// Keeps an answer under its name.
    pub(crate) fn keep_reply(&mut self, key: String, payload_hash: Sha256, body: String) {
        let checkpoint = self.batch.head.number.saturating_add(1);
        self.batch.replies.insert(key.clone(), StoredReply { payload_hash, checkpoint, body });
        self.batch.new_replies.insert(key);
    }

    /// Appends an event to its stream and to the log; its place in the stream.
    pub(crate) fn emit<D: Wire>(&mut self, event: &NewEvent<D>) -> Result<Seq, StoreError> {
        if !self.batch.tails.contains_key(&event.stream_id) {
            self.prefetch(std::slice::from_ref(&event.stream_id), &[])?;
        }
        let last = self.batch.tails.get(&event.stream_id).copied().unwrap_or_default();
        let seq = last.checked_add(1).and_then(Seq::new);
        let seq = seq.ok_or_else(|| StoreError::corrupt(format!("{} ends at {last}", event.stream_id)))?;
        let body = event.spell_at(seq);
        let index = count_cell(self.batch.head.frontier.size())?;
        self.batch.head.frontier.push(LeafHash::of(body.as_bytes()));
        self.batch.head.floor = self.batch.head.floor.max(event.ts);
        self.batch.new_events.push(vec![
            index,
            event.stream_id.as_str().into(),
            seq.get().into(),
            body.into(),
        ]);
        match self.batch.tails.get_mut(&event.stream_id) {
            Some(tail) => *tail = seq.get(),
            None => drop(self.batch.tails.insert(event.stream_id.clone(), seq.get())),
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
        self.batch.new_decisions.push(vec![
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
        self.batch.kept.insert((kind, hash), body);
    }

    pub(crate) fn keep_probe(&mut self, probe: &ProbeFacts) {
        // Most decisions of a batch were probed alike.
        if self.batch.kept_probe.as_ref() != Some(probe) {
            self.keep(Kept::Probe, probe.hash().to_string(), probe.to_canonical());
            self.batch.kept_probe = Some(probe.clone());
        }
    }

    /// Every registered key of an approver.
    pub(crate) fn all_keys(&mut self) -> Result<Vec<ApproverKey>, StoreError> {
        if self.batch.all_keys.is_none() {
            let rows = self.sql.query("SELECT body FROM approver_key ORDER BY key_id", &[])?;
            self.batch.all_keys = Some(read_rows(&rows)?);
        }
        let changed: BTreeMap<String, ApproverKey> =
            self.batch.keys.values().map(|key| (key.key_id.to_string(), key.clone())).collect();
        let stored = self.batch.all_keys.iter().flatten().map(|key| (key.key_id.to_string(), key.clone()));
        Ok(stored.chain(changed).collect::<BTreeMap<_, _>>().into_values().collect())
    }

    /// What the kernel is told about an approval; the same approval is checked once in a batch.
    pub(crate) fn record_of(&mut self, approval: &Approval) -> Result<ApprovalRecord, StoreError> {
        let key = approval.approval_id.as_str();
        if let Some((_, record)) = self.batch.checked.get(key).filter(|(checked, _)| checked == approval) {
            return Ok(record.clone());
        }
        let record = approval.record(&self.all_keys()?);
        self.batch.checked.insert(key.to_owned(), (approval.clone(), record.clone()));
        Ok(record)
    }

    /// Notes what a key is to be; what was checked with the keys before is checked again.
    pub(crate) fn put_key(&mut self, key: ApproverKey) {
        self.batch.checked.clear();
        self.batch.keys.put(key);
    }

    fn load_active(&mut self) -> Result<(), StoreError> {
        let Some(version) = self.batch.head.active else {
            self.batch.loaded = None;
            return Ok(());
        };
        if self.batch.loaded.as_ref().is_some_and(|loaded| loaded.version.get() == version) {
            return Ok(());
        }
        let stored = self.version(version)?;
        let stored =
            stored.ok_or_else(|| StoreError::corrupt(format!("policy version {version} is missing")))?;
        let loaded = LoadedVersion::load(&stored).map_err(StoreError::corrupt)?;
        self.batch.loaded = Some(Arc::new(loaded));
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
        self.batch.loaded = Some(Arc::new(loaded));
        self.batch.proofs = None;
        Ok(())
    }
}

/// The object of a document that is one; an empty one otherwise.
pub(crate) fn object_of(json: &Json<'static>) -> Object<'static> {
    json.as_object().cloned().unwrap_or_default()
}
