//! Effect: database. Opens the embedded database's file, and connects to PostgreSQL.
#![expect(clippy::disallowed_methods, reason = "Effect: database")]

use std::path::Path;

use postgres::NoTls;

use crate::StoreError;

/// Opens the file of the embedded database.
pub(crate) fn sqlite(path: &Path) -> Result<rusqlite::Connection, StoreError> {
    Ok(rusqlite::Connection::open(path)?)
}

/// Connects to PostgreSQL; whether that is safe without TLS was checked before.
pub(crate) fn postgresql(config: &postgres::Config) -> Result<postgres::Client, StoreError> {
    Ok(config.connect(NoTls)?)
}
