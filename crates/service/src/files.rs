//! Effect: files. Reads and compares the policy folder, certificates, and those that this machine trusts.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use tokio_rustls::rustls::pki_types::CertificateDer;

/// A file whole; nothing if there is none.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// How much of a file is compared at once.
const PIECE_BYTES: usize = 8192;

/// Whether there is a file that holds just these bytes; it is compared piece by piece and never whole in memory.
///
/// # Errors
///
/// Fails if the file is there and cannot be read.
pub fn holds(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let compare = |mut file: fs::File| {
        let (mut expected, mut piece) = (bytes, [0; PIECE_BYTES]);
        loop {
            let length = file.read(&mut piece)?;
            let read = piece.get(..length).unwrap_or_default();
            match expected.strip_prefix(read) {
                Some(rest) if length > 0 => expected = rest,
                Some(rest) => return Ok(rest.is_empty()),
                None => return Ok(false),
            }
        }
    };
    match fs::File::open(path).and_then(compare) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        answer => answer,
    }
}

/// The certificates that this machine trusts to vouch for others.
pub(crate) fn trusted_by_this_machine() -> Vec<CertificateDer<'static>> {
    rustls_native_certs::load_native_certs().certs
}
