//! Effect: files. Reads documents and makes temporary folders.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{fs::File, io::Read, path::Path};

use countersign_canon::{DOCUMENT_BYTES_MAX, Issue};

use crate::failure::codes;

/// Reads a file whole, up to one byte more than a document may have.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Issue> {
    let read = File::open(path).and_then(read_bounded);
    read.map_err(|error| {
        Issue::new(codes::CLI_READ_FAILED, format!("`{}` could not be read: {error}", path.display()))
            .with_hint("check the path; `-` reads standard input")
    })
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
