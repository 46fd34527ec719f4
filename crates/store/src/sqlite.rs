//! The embedded database: one SQLite file, `state.db`, in the data folder.

mod settle;

pub(crate) use self::settle::Settler;

use std::{ops::Deref, path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, TransactionBehavior, config::DbConfig, params_from_iter, types};

use crate::{
    StoreError, dial, files,
    migration::{self, Form, Table},
    sql::{Cell, Row, Sql},
};

/// The name of the store's file in the data folder.
const FILE: &str = "state.db";
/// Its write-ahead log.
const WAL_FILE: &str = "state.db-wal";

/// LIMIT: below 3.51.3 a reset of the write-ahead log can damage a store with several connections.
const VERSION_MIN: i32 = 3_051_003;

/// LIMIT: how long a writer waits for another process that shares the data folder.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// LIMIT: a write-ahead log with more pages costs more to read again than to put away; a decision adds seven to twelve.
const LOG_PAGES_LONG: u64 = 40;

/// How large the pages of a new database are: three decisions share one, where the usual page has room for one and wastes
/// the rest of it.
const PAGE_BYTES: i64 = 8192;

/// How many prepared statements a connection keeps.
const STATEMENTS_MAX: usize = 64;

/// With whom a connection has the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Company {
    /// With everybody who comes.
    Others,
    /// With nobody, until it ends: whoever comes waits.
    Nobody,
}

/// Whether there is a database in this data folder.
pub(crate) fn is_there(data: &Path) -> Result<bool, StoreError> {
    files::is_there(&data.join(FILE))
}

/// Opens the database in this data folder, making it if it is not there, and brings it to the newest schema.
pub(crate) fn open(data: &Path) -> Result<Connection, StoreError> {
    open_in(Company::Others, data)
}

/// The same for a process that ends soon. Unless somebody has the database open it is alone with it, which spares it the
/// index of the write-ahead log that processes share, and every lock in that: as much work as the rest of a decision's writing.
pub(crate) fn open_briefly(data: &Path) -> Result<Connection, StoreError> {
    match open_in(Company::Nobody, data) {
        Err(StoreError::Busy) => open(data),
        opened => opened,
    }
}

fn open_in(company: Company, data: &Path) -> Result<Connection, StoreError> {
    refuse_old_engine(rusqlite::version_number())?;
    let path = data.join(FILE);
    files::private_file(&path)?;
    let log = data.join(WAL_FILE);
    let is_first = !files::is_there(&log)?;
    let mut connection = dial::sqlite(&path)?;
    match company {
        Company::Nobody => be_alone(&connection)?,
        // Counts only for a database that is being made, which whoever ends soon hardly ever does.
        Company::Others => connection.pragma_update(None, "page_size", PAGE_BYTES)?,
    }
    configure(&connection)?;
    if company == Company::Nobody {
        keep_log_short(&connection, &log)?;
    }
    if !migration::is_current(&mut &connection)? {
        write(&mut connection, migration::migrate)?;
    }
    if is_first {
        // The engine is built not to do this before its first write of every process: see .cargo/config.toml.
        files::sync_folder(data)?;
    }
    Ok(connection)
}

/// Runs a transaction that may write; it is on the disk when this returns.
pub(crate) fn write<T>(
    connection: &mut Connection,
    run: impl FnOnce(&mut dyn Sql) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let answer = run(&mut transaction)?;
    transaction.commit()?;
    Ok(answer)
}

/// Runs a transaction that sees one state of the store and changes nothing.
pub(crate) fn read<T>(
    connection: &mut Connection,
    run: impl FnOnce(&mut dyn Sql) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    let answer = run(&mut transaction)?;
    transaction.rollback()?;
    Ok(answer)
}

/// Puts the write-ahead log into the database, if it has become long: a process that finds nobody else at the database reads
/// all of it again. What is written next goes where the log began, over what was put away: a file that keeps its length
/// is on the disk in half the time.
fn keep_log_short(connection: &Connection, log: &Path) -> Result<(), StoreError> {
    if files::log_reaches(log, LOG_PAGES_LONG) {
        connection.query_row("PRAGMA wal_checkpoint(RESTART)", (), |_| Ok(()))?;
    }
    Ok(())
}

/// Copies the database to a new file while it is in use.
pub(crate) fn back_up(connection: &Connection, target: &Path) -> Result<(), StoreError> {
    files::private_file(target)?;
    let target = target.to_str().ok_or_else(|| StoreError::Unavailable {
        message: "the name of the backup is not UTF-8".to_owned(),
    })?;
    connection.execute("VACUUM INTO $1", [target])?;
    Ok(())
}

/// Checks every page and index of the database.
pub(crate) fn check_integrity(connection: &Connection) -> Result<(), StoreError> {
    let found: String = connection.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
    if found == "ok" { Ok(()) } else { Err(StoreError::corrupt(found)) }
}

/// Takes the database for this connection alone, at once or not at all.
fn be_alone(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(Duration::ZERO)?;
    // The lock is taken by the first look at the database.
    let looked = connection
        .pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))
        .and_then(|()| connection.pragma_query(None, "schema_version", |_| Ok(())));
    looked.map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy) => StoreError::Busy,
        Some(_) | None => error.into(),
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
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    for (option, is_on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    ] {
        connection.set_db_config(option, is_on)?;
    }
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA cell_size_check = ON;
         -- Where new keys go stays in memory, and pages that change again and again go to their place once for all.
         PRAGMA cache_size = -32768;
         PRAGMA wal_autocheckpoint = 8000;",
    )?;
    let journal: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    let synchronous: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    if journal == "wal" && synchronous == 2 {
        return Ok(());
    }
    Err(StoreError::EngineUnsafe {
        found: format!("journal_mode {journal}, synchronous {synchronous}"),
        needed: "journal_mode wal, synchronous 2".to_owned(),
    })
}

/// A connection, with or without a transaction.
impl<C: Deref<Target = Connection>> Sql for C {
    fn execute(&mut self, sql: &str, cells: &[Cell]) -> Result<u64, StoreError> {
        let changed = self.prepare_cached(sql)?.execute(params_from_iter(cells))?;
        Ok(u64::try_from(changed).unwrap_or(u64::MAX))
    }

    fn query(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, StoreError> {
        let mut statement = self.prepare_cached(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(cells))?;
        let mut read = Vec::new();
        while let Some(row) = rows.next()? {
            let cells = (0..columns).map(|column| row.get::<_, Cell>(column));
            read.push(Row(cells.collect::<Result<_, _>>()?));
        }
        Ok(read)
    }

    fn insert(&mut self, table: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Result<(), StoreError> {
        insert(self, table, columns, rows, "")
    }

    fn insert_new(&mut self, table: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Result<(), StoreError> {
        insert(self, table, columns, rows, " ON CONFLICT DO NOTHING")
    }

    fn create_table(&mut self, table: &Table) -> Result<(), StoreError> {
        let Table { name, columns, form } = table;
        let columns = columns.replace("BIGINT", "INTEGER");
        let options = if *form == Form::ByKey { "STRICT, WITHOUT ROWID" } else { "STRICT" };
        self.execute_batch(&format!("CREATE TABLE {name} ({columns}) {options}"))?;
        for change in ["UPDATE", "DELETE"].iter().filter(|_| *form == Form::AppendOnly) {
            self.execute_batch(&format!(
                "CREATE TRIGGER {name}_no_{change} BEFORE {change} ON {name}
                 BEGIN SELECT RAISE(ABORT, '{name} is append-only'); END"
            ))?;
        }
        Ok(())
    }

    fn in_list(&self) -> &'static str {
        "(SELECT value FROM json_each($1))"
    }

    fn data_version(&mut self) -> Result<Option<i64>, StoreError> {
        let rows = self.query("PRAGMA data_version", &[])?;
        rows.first().map(|row| row.integer(0)).transpose()
    }

    /// Nobody listens to a file: readers look for themselves.
    fn announce(&mut self, _: u64) {}
}

fn insert(
    connection: &Connection,
    table: &str,
    columns: &[&str],
    rows: Vec<Vec<Cell>>,
    otherwise: &str,
) -> Result<(), StoreError> {
    let parameters: Vec<String> = (1..=columns.len()).map(|number| format!("${number}")).collect();
    let (columns, parameters) = (columns.join(", "), parameters.join(", "));
    let sql = format!("INSERT INTO {table} ({columns}) VALUES ({parameters}){otherwise}");
    let mut statement = connection.prepare_cached(&sql)?;
    for row in rows {
        statement.execute(params_from_iter(row))?;
    }
    Ok(())
}

impl rusqlite::ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<types::ToSqlOutput<'_>> {
        Ok(types::ToSqlOutput::Borrowed(match self {
            Self::Null => types::ValueRef::Null,
            Self::Integer(value) => types::ValueRef::Integer(*value),
            Self::Text(value) => types::ValueRef::Text(value.as_bytes()),
        }))
    }
}

impl types::FromSql for Cell {
    fn column_result(value: types::ValueRef<'_>) -> types::FromSqlResult<Self> {
        match value {
            types::ValueRef::Null => Ok(Self::Null),
            types::ValueRef::Integer(value) => Ok(Self::Integer(value)),
            types::ValueRef::Text(_) => value.as_str().map(Self::from),
            types::ValueRef::Real(_) | types::ValueRef::Blob(_) => Err(types::FromSqlError::InvalidType),
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
