//! Effect: files. Lists folders, and puts whole files into them.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use countersign_canon::Issue;

use crate::failure::codes;

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
