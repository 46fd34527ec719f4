//! TLS at the door, for a service that others than this machine reach.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
        version::TLS13,
    },
};

use super::server::refused;
use crate::{ServiceError, files};

/// A certificate and its private key, as files in PEM form.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, and those that lead to one that clients trust.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// What answers clients that speak TLS 1.3.
pub(crate) fn acceptor(tls: &TlsFiles) -> Result<TlsAcceptor, ServiceError> {
    let wrong = |path: &Path, error: &dyn std::fmt::Display| refused(&path.display().to_string(), error);
    let read = |path: &Path| {
        let bytes = files::read(path).map_err(|error| wrong(path, &error))?;
        bytes.ok_or_else(|| wrong(path, &"there is no such file"))
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(&tls.certificate)?).collect();
    let chain = chain.map_err(|error| wrong(&tls.certificate, &error))?;
    let key = PrivateKeyDer::from_pem_slice(&read(&tls.key)?).map_err(|error| wrong(&tls.key, &error))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| wrong(&tls.certificate, &error))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
