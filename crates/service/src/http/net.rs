//! Effect: network. Binds the address and the socket, and asks whose process is at the other end.
#![expect(clippy::disallowed_methods, reason = "Effect: network")]

use std::{
    fs, io,
    net::SocketAddr,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
};

use tokio::net::{TcpListener, UnixListener, UnixStream};

use super::entry::PeerUser;

/// Binds the address.
pub(crate) async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    TcpListener::bind(address).await
}

/// Binds the socket for its owner alone; one that nobody listens on any more is replaced.
pub(crate) fn bind_socket(path: &Path) -> io::Result<UnixListener> {
    if std::os::unix::net::UnixStream::connect(path).is_err() {
        let _not_there = fs::remove_file(path);
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Takes the socket away.
pub(crate) fn remove_socket(path: &Path) {
    let _gone_already = fs::remove_file(path);
}

/// Whether the process at the other end runs as the user that the socket belongs to.
pub(crate) fn peer_user(stream: &UnixStream, socket: Option<&Path>) -> PeerUser {
    let owner = socket.and_then(|path| fs::metadata(path).ok()).map(|metadata| metadata.uid());
    let peer = stream.peer_cred().ok().map(|credentials| credentials.uid());
    if peer.is_some() && peer == owner { PeerUser::Same } else { PeerUser::Other }
}
