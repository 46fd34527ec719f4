//! The copy of the newest checkpoint, outside the store: only what is kept elsewhere shows that a log was taken back.

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use countersign_canon::Sha256;
use countersign_ledger::{KeyName, SignedCheckpoint};

use crate::{StoreError, files, read, sql::Sql};

/// LIMIT: how often a file is read until it holds the same twice in a row.
const READINGS_MAX: usize = 16;

/// How many digits tell the places of a log apart.
const PLACE_DIGITS: usize = 8;

/// The last thing that went wrong with the copy, for whoever asks.
pub(crate) type CopyFault = Arc<Mutex<Option<String>>>;

/// The copy.
#[derive(Debug)]
pub(crate) struct CheckpointCopy {
    path: PathBuf,
    fault: CopyFault,
}

impl CheckpointCopy {
    /// The copy in this folder for the log of this name, as it is kept in that place: whoever copies a workspace with its store
    /// has two logs of one name from then on.
    pub(crate) fn new(
        folder: &Path,
        log: &KeyName,
        data: &Path,
        fault: CopyFault,
    ) -> Result<Self, StoreError> {
        files::private_folder(folder)?;
        let place = Sha256::of(std::path::absolute(data)?.as_os_str().as_encoded_bytes()).to_string();
        let place = place.get(..PLACE_DIGITS).unwrap_or_default();
        let name = format!("{}-{place}.checkpoint", log.as_str().replace('/', "_"));
        Ok(Self { path: folder.join(name), fault })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
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
