//! Effect: files. Reads documents, writes keys and bundles, makes temporary folders.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{
    fs::File,
    io::{Read, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use countersign_canon::{DOCUMENT_BYTES_MAX, Issue};

use crate::failure::codes;

/// Reads a file whole, up to one byte more than a document may have.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Issue> {
    let read = File::open(path).and_then(read_bounded);
    read.map_err(|error| not_read(path, &error).with_hint("check the path; `-` reads standard input"))
}

/// Reads standard input whole, up to one byte more than a document may have.
pub(crate) fn read_stdin() -> Result<Vec<u8>, Issue> {
    read_bounded(std::io::stdin().lock()).map_err(|error| {
        Issue::new(codes::CLI_READ_FAILED, format!("standard input could not be read: {error}"))
    })
}

/// Writes a file whole, with the folders it needs.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Issue> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder.and_then(|()| std::fs::write(path, bytes)).map_err(|error| {
        Issue::new(codes::CLI_WRITE_FAILED, format!("`{}` could not be written: {error}", path.display()))
    })
}

/// Reads a file whole, however long it is.
pub(crate) fn read_all(path: &Path) -> Result<Vec<u8>, Issue> {
    std::fs::read(path).map_err(|error| not_read(path, &error))
}

/// Reads a file whole, however long it is; nothing if it is not there.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, Issue> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(not_read(path, &error)),
    }
}

/// Whether there is a file that holds just these bytes; it is compared piece by piece and never whole in memory.
pub(crate) fn holds(path: &Path, bytes: &[u8]) -> Result<bool, Issue> {
    countersign_service::holds(path, bytes).map_err(|error| not_read(path, &error))
}

fn not_read(path: &Path, error: &std::io::Error) -> Issue {
    Issue::new(codes::CLI_READ_FAILED, format!("`{}` could not be read: {error}", path.display()))
}

/// Writes a file that must not be there yet, for its owner alone, with the folders it needs.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), Issue> {
    let folder = path.parent().unwrap_or(path);
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let opened =
        made.and_then(|()| std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path));
    opened.and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all())).map_err(
        |error| {
            Issue::new(codes::CLI_WRITE_FAILED, format!("`{}` could not be written: {error}", path.display()))
        },
    )
}

/// Opens a file that must not be there yet, to be written line by line.
pub(crate) fn create(path: &Path) -> Result<File, Issue> {
    File::create_new(path).map_err(|error| {
        Issue::new(codes::CLI_WRITE_FAILED, format!("`{}` could not be made: {error}", path.display()))
    })
}

/// Opens a file to be written on at its end.
pub(crate) fn append(path: &Path) -> Result<File, Issue> {
    std::fs::OpenOptions::new().append(true).open(path).map_err(|error| {
        Issue::new(codes::CLI_WRITE_FAILED, format!("`{}` could not be opened: {error}", path.display()))
    })
}

/// The files of a folder, sorted by name; none if there is no such folder.
pub(crate) fn names_in(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The permission bits of a file or folder, if it is there.
pub(crate) fn mode_of(path: &Path) -> Option<u32> {
    std::fs::metadata(path).ok().map(|metadata| metadata.permissions().mode() & 0o7777)
}

/// A fresh folder that is removed when the value is dropped.
pub(crate) fn temporary_folder() -> Result<tempfile::TempDir, Issue> {
    tempfile::Builder::new().prefix("countersign-").tempdir().map_err(|error| {
        Issue::new(codes::CLI_WRITE_FAILED, format!("no temporary folder could be made: {error}"))
            .with_hint("set TMPDIR to a folder that can be written")
    })
}

/// The extra byte lets the parser see that the document is too large, without reading all of it.
fn read_bounded(from: impl Read) -> std::io::Result<Vec<u8>> {
    let limit = u64::try_from(DOCUMENT_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    from.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}
