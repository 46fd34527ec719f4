//! What `install` changed, so that `uninstall` can put back the very bytes that were there.

use std::path::{Path, PathBuf};

use countersign_canon::{Issue, Reader, Sha256, Wire as _, Within, choice, from_base64, record, to_base64};

use super::{
    ours::{self, Rest},
    settings::Ours,
    workspace::{Workspace, first},
};
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
        /// The folders that were made for them, the innermost first.
        folders: Option<Vec<String>>,
    }
}

/// A file that is changed: how it was, and what is in it then.
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<Before>,
    pub(crate) after: Vec<u8>,
}

impl Change {
    /// Puts the file back as it was.
    ///
    /// # Errors
    ///
    /// Fails if it cannot be written.
    pub(crate) fn put_back(&self) -> Result<(), Issue> {
        match &self.before {
            Some(Before { bytes, mode }) => folder::replace(&self.path, bytes, Access::Bits(*mode)),
            None if files::mode_of(&self.path).is_none() => Ok(()),
            None => folder::remove(&self.path),
        }
    }
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
}

/// How a file was put back.
pub(crate) enum PutBack {
    /// As it was, byte for byte.
    Restored,
    /// It is gone again, as it was.
    Removed,
    /// Somebody has changed it since: what is ours was taken out, and every other byte stayed.
    Cut,
    /// Somebody has taken out already what was ours.
    Clean,
    /// It stays as it is, for this reason.
    Left(Issue),
}

fn note_path(workspace: &Workspace, client: &str) -> PathBuf {
    workspace.data.join("installed").join(format!("{client}.json"))
}

/// The note as it is, to be put back if an installation comes to nothing.
///
/// # Errors
///
/// Fails if it cannot be read.
pub(crate) fn noted(workspace: &Workspace, ours: &Ours) -> Result<Change, Issue> {
    let path = note_path(workspace, ours.host);
    Ok(Change { before: Before::read(&path)?, path, after: Vec::new() })
}

/// Notes what is about to be changed, and the folders that are made for it. What an earlier note says about a file stays true as
/// long as nobody has changed the file since.
///
/// # Errors
///
/// Fails if the note cannot be read or written.
pub(crate) fn note(
    workspace: &Workspace,
    ours: &Ours,
    changes: &[Change],
    made: &[PathBuf],
) -> Result<(), Issue> {
    let path = note_path(workspace, ours.host);
    let earlier = read(&path)?;
    let (mut files, folders) = earlier.map(|it| (it.files, it.folders)).unwrap_or_default();
    for Change { path, before, after } in changes {
        let (name, sha256) = (path.display().to_string(), Sha256::of(after));
        let earlier = files.iter_mut().find(|file| file.path == name);
        let is_same = |file: &ChangedFile| {
            before.as_ref().is_some_and(|before| Sha256::of(&before.bytes) == file.sha256)
        };
        match earlier {
            Some(file) if is_same(file) => file.sha256 = sha256,
            Some(file) => *file = changed(name, before.as_ref(), sha256, ours, Some(file))?,
            None => files.push(changed(name, before.as_ref(), sha256, ours, None)?),
        }
    }
    let mut folders = folders.unwrap_or_default();
    folders.extend(made.iter().map(|folder| folder.display().to_string()));
    let folders = (!folders.is_empty()).then_some(folders);
    folder::put(&path, &Installed { schema: InstalledSchema::V1, files, folders }.write().to_pretty())
}

/// A file to be noted. Hooks of ours that were in it already are not what it will be put back to.
fn changed(
    path: String,
    before: Option<&Before>,
    sha256: Sha256,
    ours: &Ours,
    earlier: Option<&ChangedFile>,
) -> Result<ChangedFile, Issue> {
    let Some(before) = before else { return Ok(ChangedFile { path, original: None, mode: None, sha256 }) };
    let first = earlier.and_then(|file| file.original.as_deref()).map(from_base64).transpose()?;
    let rest = match ours::without(Path::new(&path), &before.bytes, ours, first.as_deref())? {
        Rest::Whole => Some(before.bytes.clone()),
        Rest::Bytes(rest) => Some(rest),
        Rest::Nothing(rest) => first.map(|_| rest),
    };
    let mode = rest.as_ref().map(|_| Within::clamped(i64::from(before.mode)));
    Ok(ChangedFile { path, original: rest.map(|bytes| to_base64(&bytes)), mode, sha256 })
}

/// Puts every noted file back, the last one first. What could not be put back stays in the note.
///
/// # Errors
///
/// Fails if the note cannot be read or written.
pub(crate) fn put_back(workspace: &Workspace, ours: &Ours) -> Result<Vec<(PathBuf, PutBack)>, Issue> {
    let path = note_path(workspace, ours.host);
    let Some(Installed { schema, files, folders }) = read(&path)? else { return Ok(Vec::new()) };
    let (mut done, mut left) = (Vec::new(), Vec::new());
    for file in files.into_iter().rev() {
        let how = file.put_back(ours).unwrap_or_else(PutBack::Left);
        done.push((PathBuf::from(&file.path), how));
        if let Some((_, PutBack::Left(_))) = done.last() {
            left.push(file);
        }
    }
    if left.is_empty() {
        let made = folders.into_iter().flatten().map(PathBuf::from);
        done.extend(made.filter(|made| folder::remove_empty(made)).map(|made| (made, PutBack::Removed)));
        folder::remove(&path)?;
    } else {
        left.reverse();
        folder::put(&path, &Installed { schema, files: left, folders }.write().to_pretty())?;
    }
    Ok(done)
}

/// Takes out of a file what is ours without any note of it; nothing if there is nothing of ours.
pub(crate) fn clear(path: &Path, ours: &Ours) -> Option<PutBack> {
    let cleared = || -> Result<Option<PutBack>, Issue> {
        let Some(found) = files::read_if_there(path)? else { return Ok(None) };
        match ours::without(path, &found, ours, None)? {
            Rest::Whole => Ok(None),
            Rest::Nothing(_) if ours::is_as_made(&found) && !folder::is_link(path) => {
                folder::remove(path)?;
                Ok(Some(PutBack::Removed))
            }
            Rest::Nothing(rest) | Rest::Bytes(rest) => {
                folder::replace(path, &rest, Access::Usual)?;
                Ok(Some(PutBack::Cut))
            }
        }
    };
    cleared().unwrap_or_else(|issue| ours::is_named_in(path).then_some(PutBack::Left(issue)))
}

impl ChangedFile {
    /// Puts the file back, or takes out of it what is ours if somebody has changed it since.
    fn put_back(&self, ours: &Ours) -> Result<PutBack, Issue> {
        let path = Path::new(&self.path);
        let original = self.original.as_deref().map(from_base64).transpose()?;
        let Some(found) = files::read_if_there(path)? else {
            return Ok(if original.is_none() { PutBack::Removed } else { PutBack::Clean });
        };
        // A file that was made here and is behind a link now is somebody's own: it keeps its place.
        let is_moved = original.is_none() && folder::is_link(path);
        let is_same = Sha256::of(&found) == self.sha256 && !is_moved;
        let rest =
            if is_same { Rest::Whole } else { ours::without(path, &found, ours, original.as_deref())? };
        match (rest, original) {
            (Rest::Whole, _) if !is_same => Ok(PutBack::Clean),
            (Rest::Whole | Rest::Nothing(_), None) if !is_moved => {
                folder::remove(path)?;
                Ok(PutBack::Removed)
            }
            (Rest::Whole, Some(original)) => {
                let mode = self.mode.and_then(|mode| u32::try_from(mode.get()).ok());
                folder::replace(path, &original, mode.map_or(Access::Usual, Access::Bits))?;
                Ok(PutBack::Restored)
            }
            (Rest::Whole, None) => Ok(PutBack::Clean),
            (Rest::Nothing(rest) | Rest::Bytes(rest), _) => {
                folder::replace(path, &rest, Access::Usual)?;
                Ok(PutBack::Cut)
            }
        }
    }
}

fn read(path: &Path) -> Result<Option<Installed>, Issue> {
    if files::mode_of(path).is_none() {
        return Ok(None);
    }
    let read = Reader::read_document(&files::read(path)?, codes::INSTALL_SETTINGS);
    read.map(Some).map_err(|issues| first(issues.into_vec()))
}
