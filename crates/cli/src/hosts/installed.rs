//! What `install` changed, so that `uninstall` can put back the very bytes that were there.

use std::path::{Path, PathBuf};

use countersign_canon::{Issue, Reader, Sha256, Wire as _, Within, choice, from_base64, record, to_base64};

use super::workspace::{Workspace, first};
use crate::{
    effects::{
        files,
        folder::{self, Access},
    },
    failure::codes,
};

choice! {
    /// The version of the note.
    pub(crate) enum InstalledSchema {
        /// The only one so far.
        V1 = "countersign.installed@1",
    }
}

record! {
    /// A file that was changed.
    pub(crate) struct ChangedFile {
        /// Which.
        path: String,
        /// What was in it, in base64; nothing if it was not there.
        original: Option<String>,
        /// The permission bits that it had; nothing if it was not there.
        mode: Option<Within<0, 0o7777>>,
        /// The hash of what is in it since.
        sha256: Sha256,
    }
}

record! {
    /// What was changed for one host.
    pub(crate) struct Installed {
        /// The version of this note.
        schema: InstalledSchema,
        /// The files, in the order in which they were changed.
        files: Vec<ChangedFile>,
    }
}

/// A file that was changed, and how it was.
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<Before>,
}

/// A file as it was.
pub(crate) struct Before {
    pub(crate) bytes: Vec<u8>,
    /// Its permission bits.
    pub(crate) mode: u32,
}

impl Before {
    /// The file as it is now; nothing if it is not there.
    ///
    /// # Errors
    ///
    /// Fails if it is there and cannot be read.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Issue> {
        let Some(mode) = files::mode_of(path) else { return Ok(None) };
        Ok(Some(Self { bytes: files::read_all(path)?, mode }))
    }

    /// Puts the file back as it was.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub(crate) fn put_back(&self, path: &Path) -> Result<(), Issue> {
        folder::replace(path, &self.bytes, Access::Bits(self.mode))
    }
}

/// How a file was put back.
pub(crate) enum PutBack {
    /// As it was, byte for byte.
    Restored,
    /// It is gone again, as it was.
    Removed,
    /// Somebody has changed it since: it stays as it is.
    Changed,
}

fn note_path(workspace: &Workspace, client: &str) -> PathBuf {
    workspace.data.join("installed").join(format!("{client}.json"))
}

/// Notes what was changed; what an earlier note says about the same file stays true.
pub(crate) fn note(workspace: &Workspace, client: &str, changes: Vec<Change>) -> Result<(), Issue> {
    let path = note_path(workspace, client);
    let mut files = read(&path)?.map(|installed| installed.files).unwrap_or_default();
    for Change { path, before } in changes {
        let name = path.display().to_string();
        let sha256 = Sha256::of(&files::read_all(&path)?);
        match files.iter_mut().find(|file| file.path == name) {
            Some(file) => file.sha256 = sha256,
            None => {
                let mode = before.as_ref().map(|before| Within::clamped(i64::from(before.mode)));
                let original = before.map(|before| to_base64(&before.bytes));
                files.push(ChangedFile { path: name, original, mode, sha256 });
            }
        }
    }
    folder::put(&path, &Installed { schema: InstalledSchema::V1, files }.write().to_pretty())
}

/// Puts every noted file back, the last one first; nothing is noted any more then.
pub(crate) fn put_back(workspace: &Workspace, client: &str) -> Result<Vec<(PathBuf, PutBack)>, Issue> {
    let path = note_path(workspace, client);
    let Some(Installed { schema: _, files }) = read(&path)? else { return Ok(Vec::new()) };
    let mut done = Vec::new();
    for ChangedFile { path, original, mode, sha256 } in files.into_iter().rev() {
        let path = PathBuf::from(path);
        let is_ours = files::read_all(&path).is_ok_and(|bytes| Sha256::of(&bytes) == sha256);
        let how = match original {
            _ if !is_ours => PutBack::Changed,
            Some(original) => {
                let mode = mode.and_then(|mode| u32::try_from(mode.get()).ok());
                let access = mode.map_or(Access::Usual, Access::Bits);
                folder::replace(&path, &from_base64(&original)?, access)?;
                PutBack::Restored
            }
            None => {
                folder::remove(&path)?;
                PutBack::Removed
            }
        };
        done.push((path, how));
    }
    folder::remove(&path)?;
    Ok(done)
}

fn read(path: &Path) -> Result<Option<Installed>, Issue> {
    if files::mode_of(path).is_none() {
        return Ok(None);
    }
    let read = Reader::read_document(&files::read(path)?, codes::INSTALL_SETTINGS);
    read.map(Some).map_err(|issues| first(issues.into_vec()))
}
