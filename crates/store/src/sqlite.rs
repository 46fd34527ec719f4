//! The embedded store: one SQLite file, `state.db`, in the data folder.

use std::{path::Path, time::Duration};

use countersign_canon::{NonEmpty, Reader, Wire as _};
use countersign_ledger::{Event, NewEvent, Seq, StreamId, ledger_codes};
use rusqlite::{Connection, ErrorCode, TransactionBehavior, config::DbConfig, params_from_iter, types};

use crate::{
    StoreError, files,
    migration::{self, Table},
    sql::{Cell, Row, Sql},
};

/// The name of the store's file in the data folder.
const FILE: &str = "state.db";

/// LIMIT: below 3.51.3 a reset of the write-ahead log can damage a store with several connections.
const VERSION_MIN: i32 = 3_051_003;

/// LIMIT: how long a writer waits for another process that shares the data folder.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The embedded store.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// Opens the store in this data folder, making both if they are not there.
    ///
    /// # Errors
    ///
    /// Fails if the folder or file can be written by others, if the engine is unsafe, if the store comes from a later
    /// version or is damaged, and if the disk refuses.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        refuse_old_engine(rusqlite::version_number())?;
        files::private_folder(data)?;
        let path = data.join(FILE);
        files::private_file(&path)?;
        let mut connection = Connection::open(&path)?;
        configure(&connection)?;
        let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        migration::migrate(&mut transaction)?;
        transaction.commit()?;
        Ok(Self { connection })
    }

    /// Appends the events to their streams, all or none; they are on the disk when this returns.
    ///
    /// # Errors
    ///
    /// Fails if the disk refuses or the store is damaged; nothing is appended then.
    pub fn append(&mut self, events: Vec<NewEvent>) -> Result<Vec<Event>, StoreError> {
        let mut transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let appended =
            events.into_iter().map(|event| append_one(&mut transaction, event)).collect::<Result<_, _>>()?;
        transaction.commit()?;
        Ok(appended)
    }

    /// The events of a stream after this place, in order.
    ///
    /// # Errors
    ///
    /// Fails if the disk refuses or an event is damaged.
    pub fn events(&self, stream: &StreamId, after_seq: i64) -> Result<Vec<Event>, StoreError> {
        let sql = "SELECT body FROM event WHERE stream_id = $1 AND seq > $2 ORDER BY seq";
        let rows = query(&self.connection, sql, &[stream.as_str().into(), after_seq.into()])?;
        rows.iter().map(|row| read_event(row.text(0)?)).collect()
    }
}

fn append_one(sql: &mut impl Sql, event: NewEvent) -> Result<Event, StoreError> {
    let stream = Cell::from(event.stream_id.as_str());
    let last = sql.query(
        "SELECT COALESCE(MAX(seq), 0), (SELECT COALESCE(MAX(log_index), -1) FROM event) FROM event WHERE stream_id = $1",
        std::slice::from_ref(&stream),
    )?;
    let (last_seq, last_index) =
        last.first().map_or(Ok((0, -1)), |row| Ok::<_, StoreError>((row.integer(0)?, row.integer(1)?)))?;
    let seq = last_seq.checked_add(1).and_then(Seq::new);
    let seq = seq.ok_or_else(|| StoreError::corrupt(format!("the stream ends at {last_seq}")))?;
    let event = event.at(seq);
    let insert = "INSERT INTO event (log_index, stream_id, seq, body) VALUES ($1, $2, $3, $4)";
    let body = event.write().to_canonical();
    sql.execute(insert, &[last_index.saturating_add(1).into(), stream, seq.get().into(), body.into()])?;
    Ok(event)
}

fn read_event(body: &str) -> Result<Event, StoreError> {
    Reader::read_document(body.as_bytes(), ledger_codes::URM_EVENT_INVALID).map_err(|issues| {
        let first = NonEmpty::into_vec(issues).into_iter().next();
        StoreError::corrupt(first.map_or_else(String::new, |issue| format!("{} at {}", issue, issue.pointer)))
    })
}

fn refuse_old_engine(version: i32) -> Result<(), StoreError> {
    if version >= VERSION_MIN {
        return Ok(());
    }
    Err(StoreError::EngineUnsafe {
        found: format!("SQLite {version}"),
        needed: format!("{VERSION_MIN} or later"),
    })
}

/// Makes the connection durable and suspicious, and reads back what durability hangs on.
fn configure(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL;
         PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA trusted_schema = OFF;
         PRAGMA cell_size_check = ON;",
    )?;
    let journal: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    if journal == "wal" && synchronous == 2 {
        return Ok(());
    }
    Err(StoreError::EngineUnsafe {
        found: format!("journal_mode {journal}, synchronous {synchronous}"),
        needed: "journal_mode wal, synchronous 2".to_owned(),
    })
}

impl Sql for rusqlite::Transaction<'_> {
    fn execute(&mut self, sql: &str, cells: &[Cell]) -> Result<usize, StoreError> {
        Ok(self.prepare_cached(sql)?.execute(params_from_iter(cells))?)
    }

    fn query(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, StoreError> {
        query(self, sql, cells)
    }

    fn create_table(&mut self, table: &Table) -> Result<(), StoreError> {
        let Table { name, columns, is_append_only } = table;
        self.execute_batch(&format!(
            "CREATE TABLE {name} ({}) STRICT",
            columns.replace("BIGINT", "INTEGER")
        ))?;
        for change in ["UPDATE", "DELETE"].iter().filter(|_| *is_append_only) {
            self.execute_batch(&format!(
                "CREATE TRIGGER {name}_no_{change} BEFORE {change} ON {name}
                 BEGIN SELECT RAISE(ABORT, '{name} is append-only'); END"
            ))?;
        }
        Ok(())
    }
}

fn query(connection: &Connection, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(cells))?;
    let mut read = Vec::new();
    while let Some(row) = rows.next()? {
        let cells = (0..columns).map(|column| row.get::<_, Cell>(column));
        read.push(Row(cells.collect::<Result<_, _>>()?));
    }
    Ok(read)
}

impl rusqlite::ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<types::ToSqlOutput<'_>> {
        Ok(types::ToSqlOutput::Borrowed(match self {
            Self::Integer(value) => types::ValueRef::Integer(*value),
            Self::Text(value) => types::ValueRef::Text(value.as_bytes()),
        }))
    }
}

impl types::FromSql for Cell {
    fn column_result(value: types::ValueRef<'_>) -> types::FromSqlResult<Self> {
        match value {
            types::ValueRef::Integer(value) => Ok(Self::Integer(value)),
            types::ValueRef::Text(_) => value.as_str().map(Self::from),
            types::ValueRef::Null | types::ValueRef::Real(_) | types::ValueRef::Blob(_) => {
                Err(types::FromSqlError::InvalidType)
            }
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let message = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { message },
            Some(_) | None => Self::Unavailable { message },
        }
    }
}

#[cfg(test)]
mod tests;
