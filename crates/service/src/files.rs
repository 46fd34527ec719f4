//! Effect: files. Reads the policy folder, certificates, and those that this machine trusts.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{fs, io, path::Path};

use tokio_rustls::rustls::pki_types::CertificateDer;

/// A file whole; nothing if there is none.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The certificates that this machine trusts to vouch for others.
pub(crate) fn trusted_by_this_machine() -> Vec<CertificateDer<'static>> {
    rustls_native_certs::load_native_certs().certs
}
