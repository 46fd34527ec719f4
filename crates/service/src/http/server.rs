//! Listens, lets connections in up to a limit, and stops without dropping what is under way.

use std::{io, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum::Router;
use hyper::{Request, body::Incoming, service::Service};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    signal::unix::{SignalKind, signal},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_rustls::TlsAcceptor;

use super::{
    Journal, LogDetail, Site, TlsFiles, background,
    entry::Peer,
    guard::Hosts,
    net, router,
    spans::{Spans, TraceExport},
    tls,
};
use crate::{Node, ServiceError};

/// LIMIT: how many connections there are at once, over the network and over the socket each.
const CONNECTIONS_MAX: usize = 1024;
/// LIMIT: how long the head of a request may take to arrive, and how long a connection may be idle.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// LIMIT: how many bytes a head has.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// LIMIT: how long requests under way may still take once the service is told to stop.
const DRAIN_WITHIN: Duration = Duration::from_secs(10);
/// Where the service listens, and what it says about itself.
pub struct ServeOptions {
    /// The address.
    pub listen: SocketAddr,
    /// Whether TLS ends in front of the service, so that it may listen on more than loopback.
    pub behind_tls: bool,
    /// The certificate, if TLS ends at the service itself.
    pub tls: Option<TlsFiles>,
    /// Further names that the service is asked under, each with its port if that is not the usual one.
    pub hosts: Vec<String>,
    /// The socket, if there is to be one.
    pub socket: Option<PathBuf>,
    /// Which requests leave a line.
    pub detail: LogDetail,
    /// Where the lines go.
    pub journal: Box<dyn Fn(&str) + Send + Sync>,
    /// Where traces of requests go, if anywhere.
    pub traces: Option<TraceExport>,
    /// The program that proves policies as a child, if one is to: `PROGRAM policy prove --all --pipe`.
    pub prover: Option<PathBuf>,
}

impl std::fmt::Debug for ServeOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServeOptions").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// Where the service is to be found.
#[derive(Debug, Clone)]
pub struct Listening {
    /// The address, with how it is spoken to: `https://` or `http://`.
    pub url: String,
    /// The address.
    pub address: SocketAddr,
    /// The socket.
    pub socket: Option<PathBuf>,
    /// The hash of the policy in force.
    pub policy_hash: Option<String>,
}

/// Serves until a signal says to stop; `ready` is called once requests are answered.
///
/// # Errors
///
/// Fails if the address cannot be listened on, or must not be.
pub fn serve(node: Node, options: ServeOptions, ready: impl FnOnce(&Listening)) -> Result<(), ServiceError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| refused(&options.listen.to_string(), &error))?;
    // Held here, so that it is not a task of the runtime that closes the store: PostgreSQL's client waits for its end.
    let node = Arc::new(node);
    let served = runtime.block_on(listen(Arc::clone(&node), options, ready));
    // Whoever still reads slowly has had its time.
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(node);
    served
}

pub(super) fn refused(place: &str, error: &dyn std::fmt::Display) -> ServiceError {
    ServiceError::Listen { place: place.to_owned(), message: error.to_string() }
}

async fn listen(
    node: Arc<Node>,
    options: ServeOptions,
    ready: impl FnOnce(&Listening),
) -> Result<(), ServiceError> {
    let ServeOptions { listen, behind_tls, tls, hosts, socket, detail, journal, traces, prover } = options;
    if !listen.ip().is_loopback() && !behind_tls && tls.is_none() {
        let why = "others could listen in: give a certificate, put TLS in front and say so, or listen on a loopback address";
        return Err(refused(&listen.to_string(), &why));
    }
    let tls = tls.map(|files| tls::acceptor(&files)).transpose()?;
    let network = net::bind(listen).await.map_err(|error| refused(&listen.to_string(), &error))?;
    let address = network.local_addr().map_err(|error| refused(&listen.to_string(), &error))?;
    let bound = socket
        .as_deref()
        .map(|path| net::bind_socket(path).map_err(|error| refused(&path.display().to_string(), &error)));
    let local = bound.transpose()?;
    let names = names(address).into_iter().chain(hosts);
    let hosts = [Hosts::new(names), Hosts::new(["localhost".to_owned()])];
    let journal = Journal { write: journal, detail };
    let (spans, outbox) = Spans::new(traces).unwrap_or_else(|message| {
        // Whoever asks for a decision is not kept waiting for a collector that is named wrongly.
        journal.tell("traces", &message);
        (Spans::default(), None)
    });
    let site = Arc::new(Site::new(node, hosts, journal, spans));
    let sending = outbox.map(|outbox| tokio::spawn(outbox.run(Arc::clone(&site))));
    let router = router(&site);
    let policy_hash = site.question(|node| Ok(node.store().version_in_force()?)).await?;
    let policy_hash = policy_hash.map(|version| version.policy_hash.to_string());
    let mut stop = Stop::new()?;
    let drain = GracefulShutdown::new();
    let (on_network, on_socket) =
        (Arc::new(Semaphore::new(CONNECTIONS_MAX)), Arc::new(Semaphore::new(CONNECTIONS_MAX)));
    // They end with the runtime.
    drop(tokio::spawn(background::sweep(Arc::clone(&site))));
    drop(prover.map(|prover| tokio::spawn(background::prove(Arc::clone(&site), prover))));
    let url = format!("{}://{address}", if tls.is_some() { "https" } else { "http" });
    ready(&Listening { url, address, socket: socket.clone(), policy_hash });
    loop {
        tokio::select! {
            accepted = accept_network(&network, &on_network) => match accepted {
                Ok((stream, slot)) => {
                    let (tls, router) = (tls.clone(), router.clone());
                    drop(tokio::spawn(answer_network(stream, tls, router, drain.watcher(), slot)));
                }
                Err(error) => pause_after(&site, &error).await,
            },
            accepted = accept_socket(local.as_ref(), &on_socket) => match accepted {
                Ok((stream, slot)) => {
                    let peer = Peer::Socket(net::peer_user(&stream, socket.as_deref()));
                    drop(tokio::spawn(converse(stream, peer, router.clone(), drain.watcher(), slot)));
                }
                Err(error) => pause_after(&site, &error).await,
            },
            () = stop.wait() => break,
        }
    }
    drop((network, local));
    site.closing.send_replace(true);
    let _late = tokio::time::timeout(DRAIN_WITHIN, drain.shutdown()).await;
    if let Some(sending) = sending {
        let _late = tokio::time::timeout(DRAIN_WITHIN, sending).await;
    }
    if let Some(path) = &socket {
        net::remove_socket(path);
    }
    Ok(())
}

/// The names of an address, as clients spell them.
fn names(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    let mut names = vec![address.to_string()];
    if address.ip().is_loopback() {
        names.extend([format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")]);
    }
    names
}

type Accepted<S> = io::Result<(S, OwnedSemaphorePermit)>;

/// Waits for room first, so that who is over the limit waits before the door, not inside.
async fn slot(slots: &Arc<Semaphore>) -> io::Result<OwnedSemaphorePermit> {
    Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)
}

async fn accept_network(listener: &TcpListener, slots: &Arc<Semaphore>) -> Accepted<TcpStream> {
    let slot = slot(slots).await?;
    let (stream, _) = listener.accept().await?;
    stream.set_nodelay(true)?;
    Ok((stream, slot))
}

async fn accept_socket(listener: Option<&UnixListener>, slots: &Arc<Semaphore>) -> Accepted<UnixStream> {
    let Some(listener) = listener else { return std::future::pending().await };
    let slot = slot(slots).await?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, slot))
}

/// Out of files, say: goes on once there may be some again.
async fn pause_after(site: &Site, error: &io::Error) {
    site.journal.say(&refused("a connection", error), "accept");
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// A connection's service: the router, told where the connection comes from.
struct Connection {
    router: TowerToHyperService<Router>,
    peer: Peer,
}

impl Service<Request<Incoming>> for Connection {
    type Response = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer);
        self.router.call(request)
    }
}

/// Answers what comes over the network, after the two ends have agreed on keys if they are to.
async fn answer_network(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    watcher: Watcher,
    slot: OwnedSemaphorePermit,
) {
    let Some(tls) = tls else { return converse(stream, Peer::Network, router, watcher, slot).await };
    // A peer that speaks something else, or too slowly, is its own affair.
    if let Ok(Ok(stream)) = tokio::time::timeout(HEAD_WITHIN, tls.accept(stream)).await {
        converse(stream, Peer::Network, router, watcher, slot).await;
    }
}

/// Answers what comes over a connection, one request after the other.
async fn converse(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    router: Router,
    watcher: Watcher,
    slot: OwnedSemaphorePermit,
) {
    let service = Connection { router: TowerToHyperService::new(router), peer };
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // A peer that hangs up in the middle is its own affair.
    let _hung_up = watcher.watch(connection).await;
    drop(slot);
}

/// The signals that end the service.
struct Stop {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Stop {
    fn new() -> Result<Self, ServiceError> {
        let failed = |error: io::Error| refused("signals", &error);
        Ok(Self {
            terminate: signal(SignalKind::terminate()).map_err(failed)?,
            interrupt: signal(SignalKind::interrupt()).map_err(failed)?,
        })
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => (),
            _ = self.interrupt.recv() => (),
        }
    }
}
