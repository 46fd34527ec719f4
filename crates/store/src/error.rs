//! Why the store could not do what it was asked.

use std::path::PathBuf;

use countersign_canon::Code;

use crate::code::codes;

/// Why the store could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database or its disk refused.
    #[error("the store is not available: {message}")]
    Unavailable {
        /// What the database or the system said.
        message: String,
    },
    /// The queue to the writer is full.
    #[error("the store has too much to do")]
    Busy,
    /// What is stored is not what was written.
    #[error("the store is damaged: {message}")]
    Corrupt {
        /// What was found.
        message: String,
    },
    /// The log does not hold what was copied from it.
    #[error(
        "the log does not hold the checkpoint in `{}`: decisions were taken back, or this is an older copy of the \
         store (if so it should be, move that file away)",
        copy.display()
    )]
    RolledBack {
        /// The copy of the newest checkpoint, outside the store.
        copy: PathBuf,
    },
    /// There is none.
    #[error("there is no store in {place}")]
    Missing {
        /// The folder or the database.
        place: String,
    },
    /// The store is from the future.
    #[error("the store has schema {found}, this program knows up to {known}")]
    SchemaNewer {
        /// The schema of the store.
        found: i64,
        /// The newest schema of this program.
        known: i64,
    },
    /// Others could change the store.
    #[error("`{}` has mode {mode:04o}, so that other users can write it", path.display())]
    OpenToOthers {
        /// The file or folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The engine cannot be trusted with acknowledged decisions.
    #[error("the database engine is not safe to use: found {found}, need {needed}")]
    EngineUnsafe {
        /// What the engine is or does.
        found: String,
        /// What it should be or do.
        needed: String,
    },
}

impl StoreError {
    /// The frozen machine code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Unavailable { .. } => codes::URM_STORE_UNAVAILABLE,
            Self::Busy => codes::URM_STORE_BUSY,
            Self::Corrupt { .. } => codes::STORE_CORRUPT,
            Self::RolledBack { .. } => codes::STORE_ROLLED_BACK,
            Self::Missing { .. } => codes::STORE_MISSING,
            Self::SchemaNewer { .. } => codes::STORE_SCHEMA_NEWER,
            Self::OpenToOthers { .. } => codes::STORE_OPEN_TO_OTHERS,
            Self::EngineUnsafe { .. } => codes::STORE_ENGINE_UNSAFE,
        }
    }

    pub(crate) fn corrupt(message: impl Into<String>) -> Self {
        Self::Corrupt { message: message.into() }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        Self::Unavailable { message: error.to_string() }
    }
}
