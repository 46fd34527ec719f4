//! A connection to either database.

use std::path::{Path, PathBuf};

use crate::{StoreError, postgresql, sql::Sql, sqlite};

/// Which database.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    /// The file in this data folder.
    Sqlite(PathBuf),
    /// The PostgreSQL database at this address.
    Postgresql(String),
}

/// A connection to it.
#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(Box<rusqlite::Connection>),
    Postgresql(Box<postgresql::Link>),
}

impl Database {
    /// Opens a connection and brings the database to the newest schema.
    pub(crate) fn open(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Sqlite(data) => Ok(Connection::Sqlite(Box::new(sqlite::open(data)?))),
            Self::Postgresql(url) => Ok(Connection::Postgresql(Box::new(postgresql::open(url)?))),
        }
    }

    /// The same for a process that ends soon.
    pub(crate) fn open_briefly(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Sqlite(data) => Ok(Connection::Sqlite(Box::new(sqlite::open_briefly(data)?))),
            Self::Postgresql(_) => self.open(),
        }
    }
}

impl Database {
    /// Refuses a place where no store was ever made.
    pub(crate) fn refuse_missing(&self) -> Result<(), StoreError> {
        let (is_there, place) = match self {
            Self::Sqlite(data) => (sqlite::is_there(data)?, format!("`{}`", data.display())),
            Self::Postgresql(url) => (postgresql::is_there(url)?, "this PostgreSQL database".to_owned()),
        };
        if is_there { Ok(()) } else { Err(StoreError::Missing { place }) }
    }

    /// Whoever puts what was written into its place, beside the writer; nobody for a database that does so itself.
    pub(crate) fn settler(&self) -> Result<Option<sqlite::Settler>, StoreError> {
        match self {
            Self::Sqlite(data) => sqlite::Settler::start(data).map(Some),
            Self::Postgresql(_) => Ok(None),
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
            Self::Postgresql(link) => link.write(run),
        }
    }

    /// Runs a transaction that sees one state of the store and changes nothing.
    pub(crate) fn read<T>(
        &mut self,
        run: impl FnOnce(&mut dyn Sql) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(connection) => sqlite::read(connection, run),
            Self::Postgresql(link) => link.read(run),
        }
    }

    /// Runs what asks one statement, which sees one state of the store without a transaction around it.
    pub(crate) fn look<T>(
        &mut self,
        run: impl FnOnce(&mut dyn Sql) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self {
            Self::Sqlite(connection) => run(&mut &**connection),
            Self::Postgresql(link) => link.read(run),
        }
    }

    /// Has what this connection writes put into its place by somebody else.
    pub(crate) fn follow(&mut self, settler: &sqlite::Settler) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(connection) => settler.follow(connection),
            Self::Postgresql(_) => Ok(()),
        }
    }

    /// Copies the database to a new file while it is in use.
    pub(crate) fn back_up(&self, target: &Path) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(connection) => sqlite::back_up(connection, target),
            Self::Postgresql(_) => Err(StoreError::Unavailable {
                message: "a PostgreSQL store is backed up with pg_dump or pg_basebackup".to_owned(),
            }),
        }
    }

    /// Checks that the database is whole, as far as it can say so itself.
    pub(crate) fn check_integrity(&self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(connection) => sqlite::check_integrity(connection),
            // PostgreSQL checks pages as it reads them, where checksums are on; pg_amcheck looks at the rest.
            Self::Postgresql(_) => Ok(()),
        }
    }
}
