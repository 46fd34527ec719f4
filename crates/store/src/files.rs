//! Effect: files. Makes the data folder and its files private, and refuses ones that others can write.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use crate::StoreError;

/// Makes the folder for its owner alone, unless it is there, and refuses one that others can write.
pub(crate) fn private_folder(path: &Path) -> Result<(), StoreError> {
    private(path, || fs::DirBuilder::new().recursive(true).mode(0o700).create(path))
}

/// Makes an empty file for its owner alone, unless it is there, and refuses one that others can write.
pub(crate) fn private_file(path: &Path) -> Result<(), StoreError> {
    private(path, || fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path).map(drop))
}

/// Makes something, unless it is there, and refuses it if others can write it.
fn private(path: &Path, make: impl FnOnce() -> io::Result<()>) -> Result<(), StoreError> {
    match refuse_open_to_others(path) {
        Err(StoreError::Unavailable { .. }) => {
            make()?;
            refuse_open_to_others(path)
        }
        found => found,
    }
}

/// Whether there is something under this name.
///
/// # Errors
///
/// Fails if this user may not know.
pub(crate) fn is_there(path: &Path) -> Result<bool, StoreError> {
    Ok(path.try_exists()?)
}

/// Whether SQLite's write-ahead log has this many pages: whether the last of them bears the mark of the log as it began last.
/// The length of the file does not say so, since a log that begins anew is written over the one before.
pub(crate) fn log_reaches(path: &Path, pages: u64) -> bool {
    const HEADER_BYTES: u64 = 32;
    const FRAME_HEADER_BYTES: u64 = 24;
    let reaches = |file: fs::File| {
        let (mut page_bytes, mut mark, mut mark_there) = ([0; 4], [0; 8], [0; 8]);
        file.read_exact_at(&mut page_bytes, 8)?;
        file.read_exact_at(&mut mark, 16)?;
        let frame_bytes = u64::from(u32::from_be_bytes(page_bytes)).saturating_add(FRAME_HEADER_BYTES);
        let last = frame_bytes.saturating_mul(pages.saturating_sub(1)).saturating_add(HEADER_BYTES);
        file.read_exact_at(&mut mark_there, last.saturating_add(8))?;
        io::Result::Ok(mark == mark_there)
    };
    // One that is too short to be read there does not reach that far.
    fs::File::open(path).and_then(reaches).unwrap_or_default()
}

/// Makes durable which files a folder has.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    Ok(fs::File::open(path)?.sync_all()?)
}

/// Reads a private file; nothing if there is none.
pub(crate) fn read_private(path: &Path) -> Result<Option<String>, StoreError> {
    match fs::read_to_string(path) {
        Ok(text) => refuse_open_to_others(path).map(|()| Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes a private file that is whole or not there: under another name first, synced, then renamed.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), StoreError> {
    let written = path.with_extension("new");
    let mut file =
        fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&written)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(fs::rename(&written, path)?)
}

fn refuse_open_to_others(path: &Path) -> Result<(), StoreError> {
    let mode = fs::metadata(path)?.permissions().mode() & 0o7777;
    if mode & 0o022 == 0 {
        return Ok(());
    }
    Err(StoreError::OpenToOthers { path: path.to_path_buf(), mode })
}

/// What a small file holds; nothing if it cannot be read.
pub(crate) fn read_if_there(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Writes over what a small file holds. It is less than a sector, which a disk writes whole or not at all; to write another
/// file and rename that makes the file system put it on the disk at once, which takes longer than all else here.
pub(crate) fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    file.write_all_at(bytes, 0)?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if file.metadata()?.len() > length { file.set_len(length) } else { Ok(()) }
}
