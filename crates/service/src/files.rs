//! Effect: files. Reads the policy folder and the certificate.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{fs, io, path::Path};

/// A file whole; nothing if there is none.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
