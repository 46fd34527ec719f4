//! The schema of the store, as steps that only go forward.

use crate::{StoreError, sql::Sql};

/// A table; the database says how it spells the types and keeps rows from changing.
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its columns and constraints, with the types `BIGINT` and `TEXT`.
    pub(crate) columns: &'static str,
    /// Whether the database refuses to change or delete its rows.
    pub(crate) is_append_only: bool,
}

/// One step: the tables that bring a store from the version before to this one.
struct Migration {
    version: i64,
    tables: &'static [Table],
}

const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    tables: &[Table {
        name: "event",
        columns:
            "log_index BIGINT PRIMARY KEY, stream_id TEXT NOT NULL, seq BIGINT NOT NULL, body TEXT NOT NULL,
            UNIQUE (stream_id, seq)",
        is_append_only: true,
    }],
}];

/// Brings the store to the newest schema, in the caller's transaction.
pub(crate) fn migrate(sql: &mut impl Sql) -> Result<(), StoreError> {
    sql.execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)", &[])?;
    let rows = sql.query("SELECT COALESCE(MAX(version), 0) FROM schema_version", &[])?;
    let found = rows.first().map_or(Ok(0), |row| row.integer(0))?;
    let known = MIGRATIONS.last().map_or(0, |migration| migration.version);
    if found > known {
        return Err(StoreError::SchemaNewer { found, known });
    }
    for migration in MIGRATIONS.iter().filter(|migration| migration.version > found) {
        for table in migration.tables {
            sql.create_table(table)?;
        }
        sql.execute("INSERT INTO schema_version (version) VALUES ($1)", &[migration.version.into()])?;
    }
    Ok(())
}
