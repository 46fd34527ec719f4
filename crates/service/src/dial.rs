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

/// Connects to a socket.
pub(crate) async fn socket(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(path).await
}
