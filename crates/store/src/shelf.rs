//! Rows of one table that a batch has looked at, and what it changed about them.

use std::collections::BTreeMap;

use countersign_canon::{Code, Json, Reader, Wire};
use countersign_ledger::{Approval, ApproverKey, Execution, Session, Token};
use countersign_policy::ApprovalState;

use crate::{
    StoreError,
    code::codes,
    sql::{Cell, Row, Sql},
};

/// A document that has a table of its own: a key, columns to search by, and the canonical body.
pub(crate) trait Entity: Wire + Clone {
    /// The table.
    const TABLE: &'static str;
    /// The key's column.
    const KEY: &'static str;
    /// The columns to search by.
    const SEARCH: &'static [&'static str];
    /// The key.
    fn key(&self) -> String;
    /// What the columns to search by hold.
    fn search(&self) -> Vec<Cell>;
    /// What must hold of the row that this replaces, beyond being the one that was read.
    fn guard(&self) -> Option<Guard> {
        None
    }
}

/// A condition on the row that is replaced: the state it must have and the instant it must not have passed.
pub(crate) struct Guard {
    pub(crate) state: &'static str,
    pub(crate) unexpired_at: i64,
}

/// Rows by key, as they were read and as they are to be.
#[derive(Debug)]
pub(crate) struct Shelf<E>(BTreeMap<String, Slot<E>>);

#[derive(Debug)]
struct Slot<E> {
    /// The body as it was read; nothing if there was no row.
    stored: Option<String>,
    value: Option<E>,
    is_changed: bool,
    /// What it was in between, if it has changed more than once: each step has its own conditions.
    between: Vec<E>,
}

impl<E> Slot<E> {
    const fn read(stored: Option<String>, value: Option<E>) -> Self {
        Self { stored, value, is_changed: false, between: Vec::new() }
    }
}

impl<E: Entity> Shelf<E> {
    pub(crate) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Reads the rows with these keys, in one query.
    pub(crate) fn load(&mut self, sql: &mut dyn Sql, keys: &[&str]) -> Result<(), StoreError> {
        let mut wanted: Vec<&str> = keys.iter().copied().filter(|key| !self.0.contains_key(*key)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Ok(());
        }
        // For one key these are the words of `read::one`: a statement that is known need not be prepared.
        let (among, keys) = among(sql, &wanted);
        let query = format!("SELECT body FROM {} WHERE {} {among}", E::TABLE, E::KEY);
        for row in sql.query(&query, &[keys])? {
            let body = row.text(0)?.to_owned();
            let value: E = read_body(&body)?;
            let key = value.key();
            if wanted.binary_search(&key.as_str()).is_err() {
                return Err(StoreError::corrupt(format!(
                    "a row of {} holds `{key}`, which is another's",
                    E::TABLE
                )));
            }
            self.0.insert(key, Slot::read(Some(body), Some(value)));
        }
        for key in wanted {
            self.0.entry(key.to_owned()).or_insert_with(|| Slot::read(None, None));
        }
        Ok(())
    }

    /// The row with this key, read now if it was not before.
    pub(crate) fn get(&mut self, sql: &mut dyn Sql, key: &str) -> Result<Option<E>, StoreError> {
        self.load(sql, &[key])?;
        Ok(self.0.get(key).and_then(|slot| slot.value.clone()))
    }

    /// Notes what a row is to be; it must have been read, or not exist.
    pub(crate) fn put(&mut self, value: E) {
        let slot = self.0.entry(value.key()).or_insert_with(|| Slot::read(None, None));
        let before = slot.value.replace(value);
        // A row that is new is written once, as it is in the end.
        slot.between.extend(before.filter(|_| slot.is_changed && slot.stored.is_some()));
        slot.is_changed = true;
    }

    /// How many keys were looked at.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The rows as they are to be, of those that were looked at.
    pub(crate) fn values(&self) -> impl Iterator<Item = &E> {
        self.0.values().filter_map(|slot| slot.value.as_ref())
    }

    /// What has changed, to be written; every change replaces just the row that was read.
    pub(crate) fn changes(&mut self) -> Changes {
        let columns = [E::KEY].into_iter().chain(E::SEARCH.iter().copied()).chain(["body"]).collect();
        let mut changes = Changes { table: E::TABLE, columns, new: Vec::new(), replacing: Vec::new() };
        for slot in self.0.values_mut().filter(|slot| slot.is_changed) {
            for value in std::mem::take(&mut slot.between).iter().chain(&slot.value) {
                let body = value.to_canonical();
                match slot.stored.replace(body.clone()) {
                    Some(stored) => changes.replacing.push(replacement(value, body, stored)),
                    None => {
                        let key = Cell::from(value.key());
                        let row = [key].into_iter().chain(value.search()).chain([body.into()]);
                        changes.new.push(row.collect());
                    }
                }
            }
            slot.is_changed = false;
        }
        changes
    }
}

impl<E> Default for Shelf<E> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

/// What is to be written to one table.
#[derive(Debug)]
pub(crate) struct Changes {
    table: &'static str,
    columns: Vec<&'static str>,
    new: Vec<Vec<Cell>>,
    /// Statements with their cells, each of which is to change one row.
    replacing: Vec<(String, Vec<Cell>)>,
}

impl Changes {
    /// Writes it.
    pub(crate) fn write(self, sql: &mut dyn Sql) -> Result<(), StoreError> {
        for (statement, cells) in self.replacing {
            let found = sql.query(&statement, &cells)?.len();
            if found != 1 {
                let message = format!("{found} rows of {} were changed instead of one", self.table);
                return Err(StoreError::Unavailable { message });
            }
        }
        if self.new.is_empty() { Ok(()) } else { sql.insert(self.table, &self.columns, self.new) }
    }
}

/// What is kept once, by its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kept {
    /// An action that somebody was asked to approve: what a reviewer looks at.
    Action,
    /// What a probe found.
    Probe,
    /// What was proved about a policy version, or not.
    Proof,
    /// The certificate that goes with a proof.
    Certificate,
}

impl Kept {
    /// What the table calls it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Probe => "probe",
            Self::Proof => "proof",
            Self::Certificate => "certificate",
        }
    }
}

/// What follows a column to mean that it has one of these texts, and the first parameter that goes with it. For a single text
/// that is a comparison: a list takes the embedded database longer to prepare than to look up.
pub(crate) fn among(sql: &dyn Sql, texts: &[&str]) -> (String, Cell) {
    match texts {
        [text] => ("= $1".to_owned(), Cell::from(*text)),
        texts => {
            (format!("IN {}", sql.in_list()), Cell::from(Json::array(texts.iter().copied()).to_canonical()))
        }
    }
}

/// Compare and set in one statement: anything else than one changed row means that somebody else was here.
fn replacement<E: Entity>(value: &E, body: String, stored: String) -> (String, Vec<Cell>) {
    let mut cells = value.search();
    cells.extend([body.into(), value.key().into(), stored.into()]);
    let mut parameters = 1_u32..;
    let mut next = || parameters.next().unwrap_or_default();
    let sets: Vec<String> =
        E::SEARCH.iter().chain(&["body"]).map(|column| format!("{column} = ${}", next())).collect();
    let mut statement = format!(
        "UPDATE {} SET {} WHERE {} = ${} AND body = ${}",
        E::TABLE,
        sets.join(", "),
        E::KEY,
        next(),
        next()
    );
    if let Some(Guard { state, unexpired_at }) = value.guard() {
        statement.push_str(&format!(" AND state = ${} AND expires_at >= ${}", next(), next()));
        cells.extend([state.into(), unexpired_at.into()]);
    }
    statement.push_str(&format!(" RETURNING {}", E::KEY));
    (statement, cells)
}

/// The rows of a query whose first column is a body.
pub(crate) fn read_rows<E: Entity>(rows: &[Row]) -> Result<Vec<E>, StoreError> {
    rows.iter().map(|row| read_body(row.text(0)?)).collect()
}

pub(crate) fn read_body<T: Wire>(body: &str) -> Result<T, StoreError> {
    const FAMILY: Code = codes::STORE_CORRUPT;
    Reader::read_document(body.as_bytes(), FAMILY).map_err(|issues| {
        let first = issues.first().map_or_else(String::new, |issue| format!("{}: {issue}", issue.pointer));
        StoreError::corrupt(first)
    })
}

impl Entity for Session {
    const TABLE: &'static str = "session";
    const KEY: &'static str = "session_id";
    const SEARCH: &'static [&'static str] = &["owner", "state"];

    fn key(&self) -> String {
        self.session_id.to_string()
    }

    fn search(&self) -> Vec<Cell> {
        vec![self.owner.as_str().into(), self.state.as_str().into()]
    }
}

impl Entity for Approval {
    const TABLE: &'static str = "approval";
    const KEY: &'static str = "approval_id";
    const SEARCH: &'static [&'static str] = &["session_id", "action_hash", "state", "expires_at"];

    fn key(&self) -> String {
        self.approval_id.to_string()
    }

    fn search(&self) -> Vec<Cell> {
        vec![
            self.session_id.as_str().into(),
            self.action_hash.to_string().into(),
            self.state.as_str().into(),
            self.expires_at.as_unix().into(),
        ]
    }

    /// An approval is used up only while it is granted and has not expired.
    fn guard(&self) -> Option<Guard> {
        let consumed_at = self.ended_at.filter(|_| self.state == ApprovalState::Consumed)?;
        Some(Guard { state: ApprovalState::Granted.as_str(), unexpired_at: consumed_at.as_unix() })
    }
}

impl Entity for ApproverKey {
    const TABLE: &'static str = "approver_key";
    const KEY: &'static str = "key_id";
    const SEARCH: &'static [&'static str] = &["approver"];

    fn key(&self) -> String {
        self.key_id.to_string()
    }

    fn search(&self) -> Vec<Cell> {
        vec![self.approver.as_str().into()]
    }
}

impl Entity for Execution {
    const TABLE: &'static str = "execution";
    const KEY: &'static str = "permit_id";
    const SEARCH: &'static [&'static str] = &["approval_id", "state", "due_at"];

    fn key(&self) -> String {
        self.permit_id.to_string()
    }

    fn search(&self) -> Vec<Cell> {
        vec![
            self.approval_id.as_ref().map(|id| id.as_str()).into(),
            self.state.as_str().into(),
            self.step().due_at().as_unix().into(),
        ]
    }
}

impl Entity for Token {
    const TABLE: &'static str = "token";
    const KEY: &'static str = "token_hash";
    const SEARCH: &'static [&'static str] = &["name"];

    fn key(&self) -> String {
        self.token_hash.to_string()
    }

    fn search(&self) -> Vec<Cell> {
        vec![self.name.as_str().into()]
    }
}
