//! Keeps events and approvals so that nothing is lost and nothing is used twice.
//!
//! The embedded store is one SQLite file in the data folder. An answer is given only after its transaction is on the
//! disk: the journal is a write-ahead log, synced at every commit.
//!
//! # Examples
//!
//! ```
//! use countersign_ledger::StreamId;
//! use countersign_store::Sqlite;
//!
//! let folder = tempfile::tempdir()?;
//! let store = Sqlite::open(&folder.path().join("data"))?;
//! assert!(store.events(&StreamId::policy(), 0)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod code;
mod error;
mod files;
mod migration;
mod sql;
mod sqlite;

pub use crate::{code::codes as store_codes, error::StoreError, sqlite::Sqlite};
