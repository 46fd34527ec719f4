//! Effect: files. Lists folders, and puts whole files into them.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{
    fs::{File, Metadata, Permissions},
    io::Write,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown},
    path::{Path, PathBuf},
};

use countersign_canon::Issue;

use crate::failure::codes;

/// The permission bits of a mode.
const BITS: u32 = 0o7777;

/// Who may read a file that is put into a host's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Whoever may read this user's other new files; a file that is there keeps its mode.
    Usual,
    /// Everybody, through new folders too; a file that is there keeps its mode.
    Everybody,
    /// These permission bits, whatever was there.
    Bits(u32),
}

/// The files directly in a folder whose names end in `.json`, sorted by name.
pub(crate) fn json_files(folder: &Path) -> Result<Vec<PathBuf>, Issue> {
    let list = || -> std::io::Result<Vec<PathBuf>> {
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
    };
    let mut paths = list().map_err(|error| {
        let message = format!("the folder `{}` could not be listed: {error}", folder.display());
        Issue::new(codes::CLI_READ_FAILED, message)
    })?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json") && path.is_file());
    paths.sort();
    Ok(paths)
}

/// The names of everything directly in a folder, sorted; nothing if the folder is not there.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Puts a file in place whole or not at all, and never over another; says whether it did. The folder is made if it is not there.
pub(crate) fn put_new(path: &Path, text: &str) -> Result<bool, Issue> {
    let write = || -> std::io::Result<bool> {
        match whole(path, text.as_bytes())?.persist_noclobber(path) {
            Ok(_) => Ok(true),
            Err(refused) if refused.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Err(refused) => Err(refused.error),
        }
    };
    write().map_err(|error| not_written(path, &error))
}

/// Puts a file in place whole or not at all; the folder is made if it is not there.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), Issue> {
    put_bytes(path, text.as_bytes())
}

/// The same, byte for byte.
pub(crate) fn put_bytes(path: &Path, bytes: &[u8]) -> Result<(), Issue> {
    let write = || whole(path, bytes)?.persist(path).map(drop).map_err(std::io::Error::from);
    write().map_err(|error| not_written(path, &error))
}

/// The file that a path means: what a link leads to, or the path itself.
///
/// # Errors
///
/// Fails if it is a link that leads nowhere.
pub(crate) fn behind_link(path: &Path) -> Result<PathBuf, Issue> {
    if !is_link(path) {
        return Ok(path.to_path_buf());
    }
    std::fs::canonicalize(path).map_err(|error| {
        let message = format!("`{}` is a link that leads to no file: {error}", path.display());
        Issue::new(codes::INSTALL_SETTINGS, message)
            .with_expected("a file, a link to one, or nothing")
            .with_hint("make the file that the link names, or take the link away; nothing was changed")
    })
}

/// Whether a path is a link itself.
pub(crate) fn is_link(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Puts a host's settings in place whole or not at all; a link stays one, to the new file. A file that is there keeps its owner and its group, where this user may
/// set them: whoever could read it can read it still.
pub(crate) fn replace(path: &Path, bytes: &[u8], access: Access) -> Result<(), Issue> {
    let path = &behind_link(path)?;
    let write = || -> std::io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let made = missing_folders(path);
        std::fs::create_dir_all(folder)?;
        if access == Access::Everybody {
            made.iter()
                .try_for_each(|folder| std::fs::set_permissions(folder, Permissions::from_mode(0o755)))?;
        }
        // The process's umask is taken off these bits, as from those of every new file.
        let usual = Permissions::from_mode(0o666);
        let mut file = tempfile::Builder::new().permissions(usual).tempfile_in(folder)?;
        let before = std::fs::metadata(path).ok();
        if let Some(before) = &before {
            keep_owner(file.as_file(), before);
        }
        let mode = match (access, &before) {
            (Access::Bits(mode), _) => Some(mode),
            (Access::Usual | Access::Everybody, Some(before)) => Some(before.mode() & BITS),
            (Access::Everybody, None) => Some(0o644),
            (Access::Usual, None) => None,
        };
        if let Some(mode) = mode {
            file.as_file().set_permissions(Permissions::from_mode(mode))?;
        }
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(std::io::Error::from)
    };
    write().map_err(|error| not_written(path, &error))
}

/// Gives a file the owner and the group that another one has, as far as this user may.
fn keep_owner(file: &File, before: &Metadata) {
    if fchown(file, Some(before.uid()), Some(before.gid())).is_err() {
        // Only an administrator gives files away, but whoever is in a group may give it to the group.
        let _not_in_that_group = fchown(file, None, Some(before.gid()));
    }
}

/// The folders above a file that are not there, the innermost first.
pub(crate) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    folders.take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect()
}

/// A file beside the one that is meant, complete and on the disk, that only needs its name.
fn whole(path: &Path, bytes: &[u8]) -> std::io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn not_written(path: &Path, error: &std::io::Error) -> Issue {
    Issue::new(codes::CLI_WRITE_FAILED, format!("`{}` could not be written: {error}", path.display()))
}

/// Takes a file away.
pub(crate) fn remove(path: &Path) -> Result<(), Issue> {
    std::fs::remove_file(path).map_err(|error| {
        Issue::new(codes::CLI_WRITE_FAILED, format!("`{}` could not be removed: {error}", path.display()))
    })
}

/// Takes a folder away if nothing is in it; says whether it did.
pub(crate) fn remove_empty(folder: &Path) -> bool {
    std::fs::remove_dir(folder).is_ok()
}
