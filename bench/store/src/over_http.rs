//! The same decisions over HTTP, and what the framework alone would do.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::SocketAddr,
    sync::mpsc::channel,
    time::{Duration, Instant},
};

use countersign_ledger::{Access, Principal};
use countersign_policy::{Mode, Role};
use countersign_service::{Caller, LogDetail, NewSession, Node, NodeOptions, ServeOptions, serve};
use mio::{Events, Interest, Poll, Token, net::TcpStream};

/// How long each load lasts.
const SLICE: Duration = Duration::from_secs(3);

/// How many principals share the load: each may ask only so often.
const PRINCIPALS: usize = 8;

/// A service in a thread of this process, with tokens and a session.
pub struct Served {
    address: SocketAddr,
    tokens: Vec<String>,
    session: String,
}

pub fn start(options: &NodeOptions) -> Served {
    let node = Node::open(options).unwrap();
    let owner = Caller::owner("bench").unwrap();
    let token = |number: usize| {
        node.create_token(&owner, &Principal::parse(&format!("bench-{number}")).unwrap(), Access::Admin).unwrap()
    };
    let tokens = (0..PRINCIPALS).map(token).collect();
    let new = NewSession::new(Role::parse("copilot").unwrap(), Mode::WritesAllowed, "bench").unwrap();
    let session = node.start_session(&owner, new).unwrap().session_id.to_string();
    let options = ServeOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        behind_tls: false,
        tls: None,
        hosts: Vec::new(),
        socket: None,
        detail: LogDetail::Off,
        journal: Box::new(|_| ()),
        traces: None,
        prover: None,
    };
    let (found, address) = channel();
    std::thread::spawn(move || serve(node, options, |listening| found.send(listening.address).unwrap()).unwrap());
    Served { address: address.recv().unwrap(), tokens, session }
}

/// The framework with nothing behind it.
pub fn start_empty() -> SocketAddr {
    let (found, address) = channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            found.send(listener.local_addr().unwrap()).unwrap();
            let router = axum::Router::new().route("/v1/policy/eval", axum::routing::post(|| async { "" }));
            axum::serve(listener, router).await.unwrap();
        });
    });
    address.recv().unwrap()
}

impl Served {
    /// The bytes of a decision that is to begin, from each principal.
    pub fn decisions(&self) -> Vec<Vec<u8>> {
        let body = format!(
            r#"{{"session_id":"{}","action_kind":"fs.read","action_payload":{{"path":"src/main.rs"}},"proceed":true}}"#,
            self.session
        );
        self.requests(self.address, "/v1/decisions", &body)
    }

    /// The bytes of a what-if question, from each principal; also asked of the framework alone.
    pub fn evaluations(&self, address: SocketAddr) -> Vec<Vec<u8>> {
        let hash = "0".repeat(64);
        let body = format!(
            r#"{{"role":"copilot","mode":"writes_allowed","action_kind":"fs.write","action_hash":"{hash}","session_active":true,"capabilities_present":["fs.write"],"capabilities_allowed":["fs.write"],"evidence_kinds":[],"approval_present":false,"approval_valid":false,"approval_unexpired":false,"approval_unused":false,"warrant":null}}"#
        );
        self.requests(address, "/v1/policy/eval", &body)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    fn requests(&self, address: SocketAddr, path: &str, body: &str) -> Vec<Vec<u8>> {
        let request = |token: &String| {
            format!(
                "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .into_bytes()
        };
        self.tokens.iter().map(request).collect()
    }
}

/// How fast answers came.
pub struct Load {
    pub rate: f64,
    // Sorted.
    latencies: Vec<Duration>,
}

impl Load {
    /// How many answers there were.
    pub fn count(&self) -> usize {
        self.latencies.len()
    }

    pub fn percentile(&self, part: usize) -> Duration {
        self.latencies[(self.latencies.len() - 1) * part / 100]
    }
}

/// A connection that stays open, with at most one request under way.
struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
    asked: Instant,
}

impl Connection {
    fn open(address: SocketAddr) -> Self {
        let stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_nonblocking(true).unwrap();
        Self { stream: TcpStream::from_std(stream), received: Vec::new(), asked: Instant::now() }
    }

    fn ask(&mut self, request: &[u8]) {
        self.asked = Instant::now();
        self.stream.write_all(request).unwrap();
    }

    /// Takes in what has arrived; whether that was all of an answer.
    fn has_answer(&mut self) -> bool {
        let mut buffer = [0; 16 << 10];
        match self.stream.read(&mut buffer) {
            Ok(0) => panic!("the service hung up"),
            Ok(count) => self.received.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => (),
            Err(error) => panic!("{error}"),
        }
        let is_whole = is_whole(&self.received);
        if is_whole {
            self.received.clear();
        }
        is_whole
    }
}

/// Whether these bytes are a whole answer, which must be a good one.
fn is_whole(received: &[u8]) -> bool {
    let Some(end) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return false };
    let (head, body) = received.split_at(end + 4);
    let head = std::str::from_utf8(head).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    assert!(body.is_empty() || body.first() == Some(&b'{'));
    body.len() == length.parse().unwrap()
}

/// Asks over so many connections, again as soon as an answer is there, until `is_enough` of this many requests; how long
/// each answer took. One thread does it, as a load generator does, so that asking takes little from what answers.
fn ask(address: SocketAddr, requests: &[Vec<u8>], clients: usize, is_enough: impl Fn(usize) -> bool) -> Vec<Duration> {
    let mut poll = Poll::new().unwrap();
    let mut connections: Vec<Connection> = (0..clients).map(|_| Connection::open(address)).collect();
    // In turns, so that one client alone is not one principal.
    let mut in_turn = requests.iter().cycle();
    for (number, connection) in connections.iter_mut().enumerate() {
        poll.registry().register(&mut connection.stream, Token(number), Interest::READABLE).unwrap();
        connection.ask(in_turn.next().unwrap());
    }
    let (mut latencies, mut sent, mut events) = (Vec::new(), clients, Events::with_capacity(clients));
    while latencies.len() < sent {
        poll.poll(&mut events, None).unwrap();
        for event in &events {
            let connection = &mut connections[event.token().0];
            if connection.has_answer() {
                latencies.push(connection.asked.elapsed());
                if !is_enough(sent) {
                    connection.ask(in_turn.next().unwrap());
                    sent += 1;
                }
            }
        }
    }
    latencies
}

/// Sends these requests over so many connections for a while.
pub fn load(address: SocketAddr, requests: &[Vec<u8>], clients: usize) -> Load {
    let start = Instant::now();
    let mut latencies = ask(address, requests, clients, |_| start.elapsed() >= SLICE);
    let rate = latencies.len() as f64 / start.elapsed().as_secs_f64();
    latencies.sort_unstable();
    Load { rate, latencies }
}

/// Sends so many of these requests over 128 connections.
pub fn fill(address: SocketAddr, requests: &[Vec<u8>], count: usize) {
    ask(address, requests, 128, |sent| sent >= count);
}
