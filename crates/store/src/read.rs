//! Questions that change nothing.

use countersign_canon::{Sha256, Wire};
use countersign_ledger::{
    Approval, DecisionRecord, Event, Execution, ExecutionState, LeafHash, LogCheck, LogFault, LogReport,
    NoteKey, PolicyVersion, ProofArtifact, SignedCheckpoint, StoredCheckpoint, StoredEvent, StreamId,
    VersionNumber,
};
use countersign_policy::{ActionHash, AllowHash, ApprovalState, LatticeHash, PolicyHash, SessionId};

use crate::{
    StoreError,
    log::{WALK_ROWS, load_keys},
    shelf::{Entity, Kept, read_body, read_rows},
    sql::{Cell, Row, Sql, count_cell},
};

/// The hashes of rules, lattice and allow policy.
type Hashes = (PolicyHash, LatticeHash, AllowHash);

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedEvent {
    /// Its place in the log, from 0.
    pub log_index: u64,
    /// The event.
    pub event: Event,
    /// Its canonical bytes: the entry of the log.
    pub body: String,
}

/// A decision with the place in the log of the event that carries its hash.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedDecision {
    /// The place in the log.
    pub log_index: u64,
    /// The decision.
    pub record: DecisionRecord,
}

/// Why a log was not verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// It could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is not what it should be.
    #[error(transparent)]
    Fault(#[from] LogFault),
}

pub(crate) fn events(
    sql: &mut dyn Sql,
    stream: &StreamId,
    after_seq: i64,
    limit: u32,
) -> Result<Vec<Event>, StoreError> {
    let query = "SELECT body FROM event WHERE stream_id = $1 AND seq > $2 ORDER BY seq LIMIT $3";
    let rows = sql.query(query, &[stream.as_str().into(), after_seq.into(), i64::from(limit).into()])?;
    rows.iter().map(|row| read_body(row.text(0)?)).collect()
}

pub(crate) fn log_events(sql: &mut dyn Sql, from: u64, limit: u32) -> Result<Vec<LoggedEvent>, StoreError> {
    let query = "SELECT log_index, body FROM event WHERE log_index >= $1 ORDER BY log_index LIMIT $2";
    let rows = sql.query(query, &[count_cell(from)?, i64::from(limit).into()])?;
    let read = |row: &Row| {
        let body = row.text(1)?.to_owned();
        Ok(LoggedEvent { log_index: row.count(0)?, event: read_body(&body)?, body })
    };
    rows.iter().map(read).collect()
}

/// The hashes of the first `size` entries of the log.
pub(crate) fn leaves(sql: &mut dyn Sql, size: u64) -> Result<Vec<LeafHash>, StoreError> {
    let mut leaves = Vec::new();
    let query = "SELECT body FROM event WHERE log_index >= $1 AND log_index < $2 ORDER BY log_index LIMIT $3";
    loop {
        let from = count_cell(u64::try_from(leaves.len()).unwrap_or(u64::MAX))?;
        let rows = sql.query(query, &[from, count_cell(size)?, i64::from(WALK_ROWS).into()])?;
        if rows.is_empty() {
            return Ok(leaves);
        }
        for row in rows {
            leaves.push(LeafHash::of(row.text(0)?.as_bytes()));
        }
    }
}

pub(crate) fn checkpoint_note(
    sql: &mut dyn Sql,
    number: u64,
) -> Result<Option<SignedCheckpoint>, StoreError> {
    note(&sql.query("SELECT note FROM checkpoint WHERE number = $1", &[count_cell(number)?])?)
}

pub(crate) fn newest_note(sql: &mut dyn Sql) -> Result<Option<SignedCheckpoint>, StoreError> {
    note(&sql.query("SELECT note FROM checkpoint ORDER BY number DESC LIMIT 1", &[])?)
}

/// At most so many checkpoints from this number on.
pub(crate) fn notes(sql: &mut dyn Sql, from: u64, limit: u32) -> Result<Vec<SignedCheckpoint>, StoreError> {
    let query = "SELECT note FROM checkpoint WHERE number >= $1 ORDER BY number LIMIT $2";
    let rows = sql.query(query, &[count_cell(from)?, i64::from(limit).into()])?;
    rows.iter().map(|row| Ok(SignedCheckpoint::from_text(row.text(0)?.to_owned()))).collect()
}

fn note(rows: &[Row]) -> Result<Option<SignedCheckpoint>, StoreError> {
    rows.first().map(|row| Ok(SignedCheckpoint::from_text(row.text(0)?.to_owned()))).transpose()
}

/// Walks through the whole log: every event and every checkpoint, in order.
pub(crate) fn verify(
    sql: &mut dyn Sql,
    keys: Option<Vec<NoteKey>>,
    outside: &[SignedCheckpoint],
) -> Result<Result<LogReport, LogFault>, StoreError> {
    let keys = match keys {
        Some(keys) => keys,
        None => load_keys(sql)?,
    };
    let mut check = match LogCheck::new(keys, outside) {
        Ok(check) => check,
        Err(fault) => return Ok(Err(fault)),
    };
    let mut checkpoints = Walk::new("SELECT number, tree_size, note FROM checkpoint", "number");
    let mut events = Walk::new("SELECT log_index, stream_id, seq, body FROM event", "log_index");
    let mut next = checkpoints.next(sql)?;
    while let Some(row) = events.next(sql)? {
        let row = StoredEvent {
            log_index: row.count(0)?,
            stream_id: row.text(1)?,
            seq: row.integer(2)?,
            body: row.text(3)?,
        };
        if let Err(fault) = check.event(&row) {
            return Ok(Err(fault));
        }
        while let Some(row) = next.take_if(|row| row.count(1).is_ok_and(|size| size <= check.size())) {
            if let Err(fault) = check.checkpoint(&stored_checkpoint(&row)?) {
                return Ok(Err(fault));
            }
            next = checkpoints.next(sql)?;
        }
    }
    while let Some(row) = next {
        if let Err(fault) = check.checkpoint(&stored_checkpoint(&row)?) {
            return Ok(Err(fault));
        }
        next = checkpoints.next(sql)?;
    }
    Ok(check.finish())
}

fn stored_checkpoint(row: &Row) -> Result<StoredCheckpoint<'_>, StoreError> {
    Ok(StoredCheckpoint { number: row.count(0)?, tree_size: row.count(1)?, note: row.text(2)? })
}

/// Rows of a table in order of a column, fetched by the thousand.
struct Walk {
    query: String,
    after: i64,
    rows: std::vec::IntoIter<Row>,
}

impl Walk {
    fn new(select: &str, column: &str) -> Self {
        let query = format!("{select} WHERE {column} > $1 ORDER BY {column} LIMIT $2");
        Self { query, after: i64::MIN, rows: Vec::new().into_iter() }
    }

    fn next(&mut self, sql: &mut dyn Sql) -> Result<Option<Row>, StoreError> {
        if self.rows.as_slice().is_empty() {
            let cells = [self.after.into(), i64::from(WALK_ROWS).into()];
            self.rows = sql.query(&self.query, &cells)?.into_iter();
        }
        let row = self.rows.next();
        if let Some(row) = &row {
            self.after = row.integer(0)?;
        }
        Ok(row)
    }
}

pub(crate) fn approvals(
    sql: &mut dyn Sql,
    state: Option<ApprovalState>,
) -> Result<Vec<Approval>, StoreError> {
    let all = "SELECT body FROM approval ORDER BY approval_id";
    let some = "SELECT body FROM approval WHERE state = $1 ORDER BY approval_id";
    let rows = match state {
        None => sql.query(all, &[])?,
        Some(state) => sql.query(some, &[state.as_str().into()])?,
    };
    read_rows(&rows)
}

/// At most so many rows after this key, in the order of keys; with this in a column to search by, or all.
pub(crate) fn page<E: Entity>(
    sql: &mut dyn Sql,
    only: Option<(&str, &str)>,
    after: &str,
    limit: i64,
) -> Result<Vec<E>, StoreError> {
    let (table, key) = (E::TABLE, E::KEY);
    let rows = match only {
        None => {
            let query = format!("SELECT body FROM {table} WHERE {key} > $1 ORDER BY {key} LIMIT $2");
            sql.query(&query, &[after.into(), limit.into()])?
        }
        Some((column, value)) => {
            let query = format!(
                "SELECT body FROM {table} WHERE {key} > $1 AND {column} = $2 ORDER BY {key} LIMIT $3"
            );
            sql.query(&query, &[after.into(), value.into(), limit.into()])?
        }
    };
    read_rows(&rows)
}

pub(crate) fn count_approvals(sql: &mut dyn Sql, state: ApprovalState) -> Result<u64, StoreError> {
    let rows = sql.query("SELECT COUNT(*) FROM approval WHERE state = $1", &[state.as_str().into()])?;
    rows.first().map_or(Ok(0), |row| row.count(0))
}

/// Which policy version is in force.
const IN_FORCE: &str = "version = (SELECT version FROM activation ORDER BY number DESC LIMIT 1)";

pub(crate) fn version_in_force(sql: &mut dyn Sql) -> Result<Option<PolicyVersion>, StoreError> {
    let rows = sql.query(&format!("SELECT body FROM policy_version WHERE {IN_FORCE}"), &[])?;
    rows.first().map(|row| read_body(row.text(0)?)).transpose()
}

/// The number of the policy version in force, and the hashes of its documents.
pub(crate) fn named_in_force(sql: &mut dyn Sql) -> Result<Option<(VersionNumber, Hashes)>, StoreError> {
    let query =
        format!("SELECT version, policy_hash, lattice_hash, allow_hash FROM policy_version WHERE {IN_FORCE}");
    let rows = sql.query(&query, &[])?;
    let Some(row) = rows.first() else { return Ok(None) };
    if row.is_null(2) {
        // From before these hashes stood beside the body: in it they always did.
        let version = version_in_force(sql)?;
        return Ok(version.map(|it| (it.version, (it.policy_hash, it.lattice_hash, it.allow_hash))));
    }
    let damaged = |_| StoreError::corrupt("a policy version has no hashes");
    let hashes = (
        PolicyHash::parse(row.text(1)?).map_err(damaged)?,
        LatticeHash::parse(row.text(2)?).map_err(damaged)?,
        AllowHash::parse(row.text(3)?).map_err(damaged)?,
    );
    Ok(Some((number(row)?, hashes)))
}

/// The number of the policy version in force.
pub(crate) fn number_in_force(sql: &mut dyn Sql) -> Result<Option<VersionNumber>, StoreError> {
    let rows = sql.query("SELECT version FROM activation ORDER BY number DESC LIMIT 1", &[])?;
    rows.first().map(number).transpose()
}

fn number(row: &Row) -> Result<VersionNumber, StoreError> {
    VersionNumber::new(row.integer(0)?).ok_or_else(|| StoreError::corrupt("a policy version has no number"))
}

/// The granted approvals for this action in this session.
pub(crate) fn granted_approvals(
    sql: &mut dyn Sql,
    session: &SessionId,
    action: &ActionHash,
) -> Result<Vec<Approval>, StoreError> {
    let query = "SELECT body FROM approval WHERE session_id = $1 AND action_hash = $2 AND state = 'granted'";
    read_rows(&sql.query(query, &[session.as_str().into(), action.to_string().into()])?)
}

/// The last approval of this kind of action in the same session that people granted.
pub(crate) fn last_granted(sql: &mut dyn Sql, approval: &Approval) -> Result<Option<Approval>, StoreError> {
    let query = "SELECT body FROM approval WHERE session_id = $1 AND state IN ('granted', 'consumed')";
    let granted: Vec<Approval> = read_rows(&sql.query(query, &[approval.session_id.as_str().into()])?)?;
    let others = granted.into_iter().filter(|other| {
        other.action_kind == approval.action_kind && other.approval_id != approval.approval_id
    });
    Ok(others.max_by_key(|other| (other.created_at, other.approval_id.to_string())))
}

pub(crate) fn latest_executions(
    sql: &mut dyn Sql,
    state: Option<ExecutionState>,
    limit: i64,
) -> Result<Vec<Execution>, StoreError> {
    let latest = "ORDER BY permit_id DESC";
    let all = format!("SELECT body FROM execution {latest} LIMIT $1");
    let some = format!("SELECT body FROM execution WHERE state = $1 {latest} LIMIT $2");
    let rows = match state {
        None => sql.query(&all, &[limit.into()])?,
        Some(state) => sql.query(&some, &[state.as_str().into(), limit.into()])?,
    };
    read_rows(&rows)
}

/// The one row of a table that has this value in this column.
pub(crate) fn one<T: Wire>(
    sql: &mut dyn Sql,
    table: &str,
    column: &str,
    value: Cell,
) -> Result<Option<T>, StoreError> {
    let rows = sql.query(&format!("SELECT body FROM {table} WHERE {column} = $1"), &[value])?;
    rows.first().map(|row| read_body(row.text(0)?)).transpose()
}

/// Every row of a table, in order of a column.
pub(crate) fn all<T: Wire>(sql: &mut dyn Sql, table: &str, column: &str) -> Result<Vec<T>, StoreError> {
    let rows = sql.query(&format!("SELECT body FROM {table} ORDER BY {column}"), &[])?;
    rows.iter().map(|row| read_body(row.text(0)?)).collect()
}

pub(crate) fn decisions(sql: &mut dyn Sql, from: u64, limit: u32) -> Result<Vec<LoggedDecision>, StoreError> {
    let read = |(log_index, body): (u64, String)| Ok(LoggedDecision { log_index, record: read_body(&body)? });
    decision_bodies(sql, from, limit)?.into_iter().map(read).collect()
}

pub(crate) fn decision_bodies(
    sql: &mut dyn Sql,
    from: u64,
    limit: u32,
) -> Result<Vec<(u64, String)>, StoreError> {
    let query = "SELECT log_index, body FROM decision WHERE log_index >= $1 ORDER BY log_index LIMIT $2";
    let rows = sql.query(query, &[count_cell(from)?, i64::from(limit).into()])?;
    rows.iter().map(|row| Ok((row.count(0)?, row.text(1)?.to_owned()))).collect()
}

/// What was proved about a policy version, or not.
pub(crate) fn proofs(sql: &mut dyn Sql, version: i64) -> Result<Vec<ProofArtifact>, StoreError> {
    let query = "SELECT kept.body FROM proof_run run JOIN document kept ON kept.kind = $1 AND kept.hash = run.proof_id
        WHERE run.policy_version = $2 ORDER BY run.proof_id";
    let rows = sql.query(query, &[Kept::Proof.as_str().into(), version.into()])?;
    let read = |row: &Row| {
        let artifact: ProofArtifact = read_body(row.text(0)?)?;
        let changed =
            || StoreError::corrupt(format!("the proof {} is not what its id says", artifact.proof_id));
        if artifact.is_itself() { Ok(artifact) } else { Err(changed()) }
    };
    rows.iter().map(read).collect()
}

/// What is kept by this hash, as it is written: it has the hash, or it is not believed.
pub(crate) fn document_body(sql: &mut dyn Sql, kind: Kept, hash: &str) -> Result<Option<String>, StoreError> {
    let query = "SELECT body FROM document WHERE kind = $1 AND hash = $2";
    let rows = sql.query(query, &[kind.as_str().into(), hash.into()])?;
    let Some(row) = rows.first() else { return Ok(None) };
    let body = row.text(0)?;
    if Sha256::of(body.as_bytes()).to_string() != hash {
        return Err(StoreError::corrupt(format!("the {} {hash} has another hash", kind.as_str())));
    }
    Ok(Some(body.to_owned()))
}

/// What is kept by this hash.
pub(crate) fn document<T: Wire>(sql: &mut dyn Sql, kind: Kept, hash: &str) -> Result<Option<T>, StoreError> {
    document_body(sql, kind, hash)?.map(|body| read_body(&body)).transpose()
}
