//! Keeps events, decisions and approvals so that nothing is lost and nothing is used twice.
//!
//! Every command is one transaction: the decision, its events, the approval it uses up, the permit, and the signed end
//! of the Merkle log that covers them all. One writer takes what has queued up and commits it together; an answer is
//! given only after its transaction is on the disk. What the commands mean is in `engine`, free of any database; the
//! steps of the approval protocol are those of the ledger.
//!
//! # Examples
//!
//! ```
//! use countersign_canon::Timestamp;
//! use countersign_ledger::StreamId;
//! use countersign_store::{Store, StoreOptions};
//!
//! let folder = tempfile::tempdir()?;
//! let now = Timestamp::parse("2026-02-12T09:10:00Z")?;
//! let options = StoreOptions { data: folder.path().join("data"), database: None, checkpoints: None, now };
//! let store = Store::open(&options)?;
//! assert!(store.events(&StreamId::policy(), 0)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod code;
mod connection;
mod copy;
mod dial;
mod engine;
mod error;
mod files;
mod log;
mod migration;
mod postgresql;
mod random;
mod read;
mod request;
mod shelf;
mod snapshot;
mod sql;
mod sqlite;
mod store;
mod working;
mod writer;

pub use crate::{
    code::codes as store_codes,
    copy::read_at_rest,
    error::StoreError,
    random::fresh_secret,
    read::{LoggedDecision, LoggedEvent, VerifyError},
    request::{
        Call, CallError, Command, Decide, FreshIds, KeptProof, Origin, PolicyDocuments, Proceed, Refusal,
        Reply, StartSession, Swept,
    },
    snapshot::Snapshot,
    store::{Store, StoreOptions},
    writer::{Answer, Permit, Responder},
};
