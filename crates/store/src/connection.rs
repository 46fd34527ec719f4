//! A connection to either database.

use std::path::{Path, PathBuf};

use crate::{StoreError, sql::Sql, sqlite};

/// Which database.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    /// The file in this data folder.
    Sqlite(PathBuf),
}

/// A connection to it.
#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(Box<rusqlite::Connection>),
}

impl Database {
    /// Opens a connection and brings the database to the newest schema.
    pub(crate) fn open(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Sqlite(data) => Ok(Connection::Sqlite(Box::new(sqlite::open(data)?))),
        }
    }
}

impl Connection {
    /// Runs a transaction that may write, alone; it is durable when this returns.
    pub(crate) fn write<T>(
        &mut self,
        run: impl FnOnce(&mut dyn Sql) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(connection) => sqlite::write(connection, run),
        }
    }

    /// Runs a transaction that sees one state of the store and changes nothing.
    pub(crate) fn read<T>(
        &mut self,
        run: impl FnOnce(&mut dyn Sql) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(connection) => sqlite::read(connection, run),
        }
    }

    /// Copies the database to a new file while it is in use.
    pub(crate) fn back_up(&self, target: &Path) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(connection) => sqlite::back_up(connection, target),
        }
    }
}
