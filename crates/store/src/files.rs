//! Effect: files. Makes the data folder and its files private, and refuses ones that others can write.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{
    fs,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use crate::StoreError;

/// Makes the folder for its owner alone, unless it is there, and refuses one that others can write.
pub(crate) fn private_folder(path: &Path) -> Result<(), StoreError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    refuse_open_to_others(path)
}

/// Makes an empty file for its owner alone, unless it is there, and refuses one that others can write.
pub(crate) fn private_file(path: &Path) -> Result<(), StoreError> {
    fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    refuse_open_to_others(path)
}

fn refuse_open_to_others(path: &Path) -> Result<(), StoreError> {
    let mode = fs::metadata(path)?.permissions().mode() & 0o7777;
    if mode & 0o022 == 0 {
        return Ok(());
    }
    Err(StoreError::OpenToOthers { path: path.to_path_buf(), mode })
}
