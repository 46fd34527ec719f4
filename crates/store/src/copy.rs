//! The copy of the newest checkpoint, outside the store: only what is kept elsewhere shows that a log was taken back.

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use countersign_ledger::SignedCheckpoint;

use crate::{StoreError, files, read, sql::Sql};

/// LIMIT: how often a file is read until it holds the same twice in a row.
const READINGS_MAX: usize = 16;

/// The last thing that went wrong with the copy, for whoever asks.
pub(crate) type CopyFault = Arc<Mutex<Option<String>>>;

/// The copy.
#[derive(Debug)]
pub(crate) struct CheckpointCopy {
    path: PathBuf,
    fault: CopyFault,
}

impl CheckpointCopy {
    /// A copy in this folder, under this name.
    pub(crate) fn new(folder: &Path, name: &str, fault: CopyFault) -> Result<Self, StoreError> {
        files::private_folder(folder)?;
        Ok(Self { path: folder.join(name), fault })
    }

    /// Replaces the copy. What goes wrong is remembered, not answered: the transaction is durable already.
    pub(crate) fn replace(&self, note: &str) {
        let result = files::overwrite(&self.path, note.as_bytes());
        if let Ok(mut fault) = self.fault.lock() {
            *fault = result.err().map(|error| error.to_string());
        }
    }

    /// Refuses a log that does not hold what was copied from it: to go on would be to write over the one trace of what was
    /// taken back. Asked inside a transaction that appends to the log, which sees everything that was ever copied.
    pub(crate) fn refuse_rollback(&self, sql: &mut dyn Sql, last: Option<&str>) -> Result<(), StoreError> {
        let held = || files::read_if_there(&self.path);
        // Mostly it is the last one.
        if last.is_some() && held().as_deref() == last {
            return Ok(());
        }
        let Ok(text) = read_at_rest(|| Ok::<_, Infallible>(held()));
        // What is damaged tells nothing: the copy is not synced, so a power cut may leave anything.
        let claim = text.as_ref().and_then(|text| SignedCheckpoint::from_text(text.clone()).claim().ok());
        let (Some(text), Some(claim)) = (text, claim) else { return Ok(()) };
        let note = read::checkpoint_note(sql, claim.number)?;
        // More than the note is what a longer one has left over.
        if note.is_some_and(|note| text.starts_with(note.as_str())) {
            return Ok(());
        }
        Err(StoreError::RolledBack { copy: self.path.clone() })
    }
}

/// Reads something that may be written over just now, as the copy of the newest checkpoint is: what it is twice in a row.
///
/// # Errors
///
/// Fails if it cannot be read.
pub fn read_at_rest<T: PartialEq, E>(read: impl Fn() -> Result<T, E>) -> Result<T, E> {
    let mut before = read()?;
    for _ in 0..READINGS_MAX {
        let now = read()?;
        if now == before {
            break;
        }
        before = now;
    }
    Ok(before)
}
