//! Effect: network. Connects to a service, over the network or its socket.
#![expect(clippy::disallowed_methods, reason = "Effect: network")]

use std::{io, path::Path};

use tokio::net::{TcpStream, UnixStream};

/// Connects to an address.
pub(crate) async fn network(authority: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(authority).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Whether somebody listens at a socket.
pub(crate) fn is_listening(path: &Path) -> io::Result<bool> {
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Connects to a socket.
pub(crate) async fn socket(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(path).await
}
