//! Effect: network. Connects to a service, over the network or its socket.
#![expect(clippy::disallowed_methods, reason = "Effect: network")]

use std::{io, os::unix::net, path::Path};

use tokio::net::{TcpStream, UnixStream};

/// Connects to an address.
pub(crate) async fn network(authority: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(authority).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Connects to a socket, if somebody listens there.
pub(crate) fn listening(path: &Path) -> io::Result<Option<net::UnixStream>> {
    match net::UnixStream::connect(path) {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// The connection to a socket that there is, or else a new one.
pub(crate) async fn socket(path: &Path, connected: Option<net::UnixStream>) -> io::Result<UnixStream> {
    match connected {
        Some(stream) => {
            stream.set_nonblocking(true)?;
            UnixStream::from_std(stream)
        }
        None => UnixStream::connect(path).await,
    }
}
