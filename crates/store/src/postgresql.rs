//! The shared database: PostgreSQL, for any number of services over one truth.
//!
//! Whoever writes first takes the one advisory lock of the log, for just that transaction: commits, and so the log, have
//! one order without gaps, and the lock cannot outlive or be lost before the transaction that it fences. Every change is
//! a compare-and-set besides, and the number of a checkpoint is a key: two writers that both believed to be alone, after
//! a failover say, could not both commit.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use postgres::{
    Client, Config, Statement,
    config::Host,
    error::Severity,
    types::{FromSql, IsNull, ToSql, Type, private::BytesMut},
};

use crate::{
    StoreError, dial,
    migration::{self, Form, Table},
    sql::{Cell, Row, Sql},
};

/// LIMIT: how long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The advisory lock of the log: `urm` and a one.
const LOG_LOCK: i64 = 0x75_72_6D_01;

/// The channel on which the size of the log is announced, once for each batch.
const CHANNEL: &str = "countersign_log";

/// A connection with its prepared statements.
pub(crate) struct Link {
    /// Where to connect to if it is lost; nothing as long as it is being opened.
    url: Option<String>,
    client: Client,
    statements: BTreeMap<String, Statement>,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Link")
    }
}

/// Whether the database at this address holds a store.
pub(crate) fn is_there(url: &str) -> Result<bool, StoreError> {
    Ok(connect(url)?.query_one("SELECT to_regclass('schema_version') IS NOT NULL", &[])?.try_get(0)?)
}

/// Connects to the database at this address and brings it to the newest schema.
pub(crate) fn open(url: &str) -> Result<Link, StoreError> {
    let mut client = connect(url)?;
    refuse_unsafe_settings(&mut client)?;
    let mut link = Link { url: None, client, statements: BTreeMap::new() };
    link.write(|sql| migration::migrate(sql))?;
    Ok(Link { url: Some(url.to_owned()), ..link })
}

fn connect(url: &str) -> Result<Client, StoreError> {
    let mut config: Config = url.parse()?;
    refuse_open_network(&config)?;
    let config = config.application_name("countersign").connect_timeout(CONNECT_TIMEOUT);
    let mut client = dial::postgresql(config)?;
    client.batch_execute(
        "SET default_transaction_isolation = 'read committed'; SET lock_timeout = '10s'; SET statement_timeout = '60s';
         SET idle_in_transaction_session_timeout = '60s'; SET client_min_messages = 'warning';",
    )?;
    Ok(client)
}

/// Without TLS, a password and every decision would cross the network in the open.
fn refuse_open_network(config: &Config) -> Result<(), StoreError> {
    let is_near = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    };
    let addresses_near = config.get_hostaddrs().iter().all(IpAddr::is_loopback);
    if config.get_hosts().iter().all(is_near) && addresses_near {
        return Ok(());
    }
    Err(StoreError::EngineUnsafe {
        found: "a database on another machine, reached without TLS".to_owned(),
        needed: "a Unix socket or a loopback address, such as the near end of a TLS tunnel".to_owned(),
    })
}

/// What durability hangs on must be on.
fn refuse_unsafe_settings(client: &mut Client) -> Result<(), StoreError> {
    for (setting, unsafe_values) in
        [("fsync", &["off"][..]), ("full_page_writes", &["off"]), ("synchronous_commit", &["off", "local"])]
    {
        let row = client.query_one(&format!("SHOW {setting}"), &[])?;
        let value: String = row.try_get(0)?;
        if unsafe_values.contains(&value.as_str()) {
            return Err(StoreError::EngineUnsafe {
                found: format!("{setting} = {value}"),
                needed: format!("{setting} = on"),
            });
        }
    }
    Ok(())
}

/// How many standbys hold every commit before it is answered.
pub(crate) fn synchronous_standbys(sql: &mut dyn Sql) -> Result<u64, StoreError> {
    let query = "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')";
    sql.query(query, &[])?.first().map_or(Ok(0), |row| row.count(0))
}

impl Link {
    /// Runs a transaction that may write, alone among all services; it is durable when this returns.
    pub(crate) fn write<T>(
        &mut self,
        run: impl FnOnce(&mut dyn Sql) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // Read committed: what follows sees everything that was committed before the lock was ours.
        let begin = format!("BEGIN; SELECT pg_advisory_xact_lock({LOG_LOCK})");
        self.transact(&begin, "COMMIT", run)
    }

    /// Runs a transaction that sees one state of the store and changes nothing.
    pub(crate) fn read<T>(
        &mut self,
        run: impl FnOnce(&mut dyn Sql) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.transact("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "ROLLBACK", run)
    }

    fn transact<T>(
        &mut self,
        begin: &str,
        end: &str,
        run: impl FnOnce(&mut dyn Sql) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.begin(begin)?;
        let mut running = Running {
            client: &mut self.client,
            statements: &mut self.statements,
            waiting: Vec::new(),
            grown: None,
        };
        let ran = run(&mut running).and_then(|answer| running.send_waiting().map(|()| answer));
        let (grown, answer) =
            (running.grown, ran.inspect_err(|_| drop(self.client.batch_execute("ROLLBACK")))?);
        match grown {
            Some(size) => self.client.batch_execute(&format!("NOTIFY {CHANNEL}, '{size}'; {end}"))?,
            None => self.client.batch_execute(end)?,
        }
        Ok(answer)
    }

    /// Begins a transaction, if need be on a new connection: the database may have been away and be back, and as long as
    /// nothing has begun nothing can be done twice. What is lost later is never tried again.
    fn begin(&mut self, begin: &str) -> Result<(), StoreError> {
        let begun = self.client.batch_execute(begin);
        match (begun, &self.url) {
            (Err(error), Some(url)) if is_lost(&error) => {
                *self = open(url)?;
                Ok(self.client.batch_execute(begin)?)
            }
            (begun, _) => Ok(begun?),
        }
    }
}

/// Whether an error is the end of the connection, not the answer of a database that is there.
fn is_lost(error: &postgres::Error) -> bool {
    error.as_db_error().is_none_or(|said| matches!(said.parsed_severity(), Some(Severity::Fatal)))
}

/// A transaction under way.
struct Running<'c> {
    client: &'c mut Client,
    statements: &'c mut BTreeMap<String, Statement>,
    /// Rows that go to the database together, before anything else does.
    waiting: Vec<Insert>,
    /// How long the log will be, if that is to be announced.
    grown: Option<u64>,
}

/// Rows for one table: each column goes as one array.
struct Insert {
    /// `table (column, …)`
    place: String,
    columns: Vec<Column>,
}

impl Running<'_> {
    fn prepare(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Sends what waits in one statement, however many tables it is for.
    fn send_waiting(&mut self) -> Result<(), StoreError> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        let mut numbers = 1_u32..;
        let inserts: Vec<String> = waiting.iter().map(|insert| insert.statement(&mut numbers, "")).collect();
        let named = inserts.iter().enumerate().map(|(index, insert)| format!("i{index} AS ({insert})"));
        let sql = format!("WITH {} SELECT", named.collect::<Vec<_>>().join(", "));
        self.run(&sql, &waiting)
    }

    fn run(&mut self, sql: &str, inserts: &[Insert]) -> Result<(), StoreError> {
        let statement = self.prepare(sql)?;
        let arrays = inserts.iter().flat_map(|insert| &insert.columns);
        self.client.execute(&statement, &arrays.map(Column::as_sql).collect::<Vec<_>>())?;
        Ok(())
    }
}

impl Insert {
    fn new(table: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Self {
        let mut arrays = vec![Vec::with_capacity(rows.len()); columns.len()];
        for row in rows {
            arrays.iter_mut().zip(row).for_each(|(array, cell)| array.push(cell));
        }
        let place = format!("{table} ({})", columns.join(", "));
        Self { place, columns: arrays.into_iter().map(Column::new).collect() }
    }

    fn statement(&self, numbers: &mut impl Iterator<Item = u32>, otherwise: &str) -> String {
        let parameters: Vec<String> =
            self.columns.iter().zip(numbers).map(|(column, number)| column.parameter(number)).collect();
        format!("INSERT INTO {} SELECT * FROM unnest({}){otherwise}", self.place, parameters.join(", "))
    }
}

impl Sql for Running<'_> {
    fn execute(&mut self, sql: &str, cells: &[Cell]) -> Result<u64, StoreError> {
        self.send_waiting()?;
        let statement = self.prepare(sql)?;
        Ok(self.client.execute(&statement, &parameters(cells))?)
    }

    fn query(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, StoreError> {
        self.send_waiting()?;
        let statement = self.prepare(sql)?;
        let rows = self.client.query(&statement, &parameters(cells))?;
        let read = |row: &postgres::Row| {
            let cells = (0..row.len()).map(|column| row.try_get::<_, Option<Cell>>(column));
            let cells = cells.map(|cell| Ok(cell?.unwrap_or(Cell::Null)));
            Ok(Row(cells.collect::<Result<_, postgres::Error>>()?))
        };
        rows.iter().map(read).collect()
    }

    fn insert(&mut self, table: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Result<(), StoreError> {
        self.waiting.push(Insert::new(table, columns, rows));
        Ok(())
    }

    fn insert_new(&mut self, table: &str, columns: &[&str], rows: Vec<Vec<Cell>>) -> Result<(), StoreError> {
        self.send_waiting()?;
        let insert = Insert::new(table, columns, rows);
        let sql = insert.statement(&mut (1..), " ON CONFLICT DO NOTHING");
        self.run(&sql, &[insert])
    }

    fn create_table(&mut self, table: &Table) -> Result<(), StoreError> {
        self.send_waiting()?;
        let Table { name, columns, form } = table;
        self.client.batch_execute(&format!("CREATE TABLE {name} ({columns})"))?;
        if *form == Form::AppendOnly {
            self.client.batch_execute(&format!(
                "CREATE OR REPLACE FUNCTION countersign_append_only() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$;
                 CREATE TRIGGER {name}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {name}
                 FOR EACH STATEMENT EXECUTE FUNCTION countersign_append_only()"
            ))?;
        }
        Ok(())
    }

    fn in_list(&self) -> &'static str {
        "(SELECT value FROM json_array_elements_text($1::text::json))"
    }

    /// Its transactions have numbers, but none that says at once whether there were others.
    fn data_version(&mut self) -> Result<Option<i64>, StoreError> {
        Ok(None)
    }

    fn announce(&mut self, size: u64) {
        self.grown = Some(size);
    }
}

fn parameters(cells: &[Cell]) -> Vec<&(dyn ToSql + Sync)> {
    cells.iter().map(|cell| -> &(dyn ToSql + Sync) { cell }).collect()
}

/// One column of many rows.
enum Column {
    Integers(Vec<Option<i64>>),
    Texts(Vec<Option<String>>),
}

impl Column {
    fn new(cells: Vec<Cell>) -> Self {
        if cells.iter().any(|cell| matches!(cell, Cell::Integer(_))) {
            let number = |cell: Cell| match cell {
                Cell::Integer(value) => Some(value),
                Cell::Text(_) | Cell::Null => None,
            };
            return Self::Integers(cells.into_iter().map(number).collect());
        }
        let text = |cell: Cell| match cell {
            Cell::Text(value) => Some(value),
            Cell::Integer(_) | Cell::Null => None,
        };
        Self::Texts(cells.into_iter().map(text).collect())
    }

    fn parameter(&self, number: u32) -> String {
        match self {
            Self::Integers(_) => format!("${number}::bigint[]"),
            Self::Texts(_) => format!("${number}::text[]"),
        }
    }

    fn as_sql(&self) -> &(dyn ToSql + Sync) {
        match self {
            Self::Integers(values) => values,
            Self::Texts(values) => values,
        }
    }
}

type Unreadable = Box<dyn std::error::Error + Sync + Send>;

impl ToSql for Cell {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Unreadable> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(value) => value.to_sql(kind, out),
            Self::Text(value) => value.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::INT8 || *kind == Type::TEXT || *kind == Type::VARCHAR
    }

    postgres::types::to_sql_checked!();
}

impl<'r> FromSql<'r> for Cell {
    fn from_sql(kind: &Type, raw: &'r [u8]) -> Result<Self, Unreadable> {
        if *kind == Type::INT8 {
            return i64::from_sql(kind, raw).map(Self::Integer);
        }
        if *kind == Type::INT4 {
            return i32::from_sql(kind, raw).map(|value| Self::Integer(i64::from(value)));
        }
        String::from_sql(kind, raw).map(Self::Text)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::INT8
            || *kind == Type::INT4
            || <String as FromSql<'_>>::accepts(kind)
            || *kind == Type::VOID
    }
}

impl From<postgres::Error> for StoreError {
    fn from(error: postgres::Error) -> Self {
        use std::error::Error as _;
        // The cause says more than the message, and holds no values.
        let message = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        match error.code().map(postgres::error::SqlState::code) {
            Some("XX001" | "XX002") => Self::Corrupt { message },
            Some(_) | None => Self::Unavailable { message },
        }
    }
}
