//! Somebody over the network, a service or a collector: the address, and who must vouch for it.

use std::{io, path::Path, sync::Arc};

use axum::body::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use tokio_rustls::{
    TlsConnector,
    rustls::{
        CertificateError, ClientConfig, Error as TlsError, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject as _},
        version::TLS13,
    },
};

use crate::{dial, files};

/// Why nothing came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lost {
    /// Nobody answers, or something else than was asked for.
    Unreachable(String),
    /// Somebody answers who does not show to be the one that was asked for.
    Untrusted(String),
}

impl Lost {
    fn unreachable(error: impl ToString) -> Self {
        Self::Unreachable(error.to_string())
    }

    fn untrusted(error: impl ToString) -> Self {
        Self::Untrusted(error.to_string())
    }
}

/// An address: how it is spoken to, the host, and the path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Address {
    is_tls: bool,
    authority: String,
    path: String,
}

impl Address {
    /// Reads `http://HOST[:PORT][/PATH]` or the same with `https`; nothing if it is neither.
    fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let is_tls = match scheme {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let is_plain = |sign: char| sign.is_ascii_graphic() && !"@?#\\".contains(sign);
        let is_good = !authority.is_empty() && authority.chars().chain(path.chars()).all(is_plain);
        is_good.then(|| Self {
            is_tls,
            authority: authority.to_owned(),
            path: path.trim_end_matches('/').to_owned(),
        })
    }

    /// The host and the port; the latter is the usual one if none is named.
    fn host_and_port(&self) -> (&str, &str) {
        let usual = if self.is_tls { "443" } else { "80" };
        match self.authority.rsplit_once(':') {
            // A colon inside brackets belongs to the address.
            Some((host, port)) if !port.contains(']') => (host, port),
            Some(_) | None => (&self.authority, usual),
        }
    }
}

/// Somebody over the network.
#[derive(Clone)]
pub(crate) struct Remote {
    address: Address,
    /// Who must be at the other end, and who may vouch for that.
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl std::fmt::Debug for Remote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Remote").field(&self.address).finish()
    }
}

impl Remote {
    /// Whoever is at `http://HOST[:PORT]` or `https://HOST[:PORT]`; in the latter case one of the certificates in this file must
    /// vouch for it, or, without a file, one that this machine trusts.
    pub(crate) fn new(url: &str, roots: Option<&Path>) -> Result<Self, Lost> {
        let address = Address::parse(url).ok_or_else(|| {
            Lost::unreachable("it is neither `http://HOST[:PORT]` nor `https://HOST[:PORT]`")
        })?;
        let tls = if address.is_tls {
            let (host, _) = address.host_and_port();
            let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
            let name = ServerName::try_from(host).map_err(Lost::unreachable)?;
            Some((connector(roots)?, name))
        } else {
            None
        };
        Ok(Self { address, tls })
    }

    /// The host as it was named.
    pub(crate) fn authority(&self) -> &str {
        &self.address.authority
    }

    /// The path of the address, with the slash that it begins with; empty if there is none.
    pub(crate) fn path(&self) -> String {
        let path = &self.address.path;
        if path.is_empty() { String::new() } else { format!("/{path}") }
    }

    /// The address as text, without its path.
    pub(crate) fn place(&self) -> String {
        format!("http{}://{}", if self.address.is_tls { "s" } else { "" }, self.address.authority)
    }

    /// Sends one request over a connection of its own.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Lost> {
        let (host, port) = self.address.host_and_port();
        let stream = dial::network(&format!("{host}:{port}")).await.map_err(Lost::unreachable)?;
        let sent = match &self.tls {
            None => exchange(TokioIo::new(stream), request).await,
            Some((connector, name)) => {
                let stream =
                    connector.connect(name.clone(), stream).await.map_err(|error| refused(&error))?;
                exchange(TokioIo::new(stream), request).await
            }
        };
        sent.map_err(Lost::unreachable)
    }
}

/// Sends one request over a connection of its own.
pub(crate) async fn exchange<I>(
    io: I,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, hyper::Error>
where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(io).await?;
    tokio::spawn(async move {
        // What goes wrong on the way is told to whoever waits for the answer.
        let _told = connection.await;
    });
    sender.send_request(request).await
}

/// What speaks TLS 1.3 with those for whom one of these certificates vouches.
fn connector(roots: Option<&Path>) -> Result<TlsConnector, Lost> {
    let mut store = RootCertStore::empty();
    match roots {
        Some(path) => {
            let wrong = |why: &dyn std::fmt::Display| Lost::untrusted(format!("`{}`: {why}", path.display()));
            let bytes = files::read(path).map_err(|error| wrong(&error))?;
            let bytes = bytes.ok_or_else(|| wrong(&"there is no such file"))?;
            for certificate in CertificateDer::pem_slice_iter(&bytes) {
                let added = certificate.map_err(|error| wrong(&error)).map(|it| store.add(it))?;
                added.map_err(|error| wrong(&error))?;
            }
            if store.is_empty() {
                return Err(wrong(&"it holds no certificate in PEM form"));
            }
        }
        // Some of what machines trust is malformed; that is no reason to trust nobody.
        None => {
            store.add_parsable_certificates(files::trusted_by_this_machine());
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(Lost::unreachable)?
        .with_root_certificates(store)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Why there is no connection: often the certificate, which has reasons of its own.
fn refused(error: &io::Error) -> Lost {
    let found = error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>());
    let Some(TlsError::InvalidCertificate(why)) = found else { return Lost::unreachable(error) };
    if matches!(why, CertificateError::UnknownIssuer) {
        return Lost::untrusted("nobody who is trusted here vouches for its certificate");
    }
    if matches!(why, CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. }) {
        return Lost::untrusted("its certificate is for another name");
    }
    if matches!(why, CertificateError::Expired | CertificateError::ExpiredContext { .. }) {
        return Lost::untrusted("its certificate has expired");
    }
    // The library has no name of its own for this, and it is what a certificate made in one step is without care.
    if why.to_string().contains("CaUsedAsEndEntity") {
        return Lost::untrusted(
            "its certificate is one for vouching, not for a service: make one with `basicConstraints=CA:FALSE`",
        );
    }
    Lost::untrusted(format!("its certificate is refused: {why}"))
}

#[cfg(test)]
mod tests;
