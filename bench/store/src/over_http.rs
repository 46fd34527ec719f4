//! The same decisions over HTTP, and what the framework alone would do.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::channel,
    },
    time::{Duration, Instant},
};

use countersign_ledger::{Access, Principal};
use countersign_policy::{Mode, Role};
use countersign_service::{Caller, LogDetail, NewSession, Node, NodeOptions, ServeOptions, serve};

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
    pub fn percentile(&self, part: usize) -> Duration {
        self.latencies[(self.latencies.len() - 1) * part / 100]
    }
}

/// A connection that stays open.
struct Client {
    writer: TcpStream,
    reader: BufReader<TcpStream>,
}

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let writer = TcpStream::connect(address).unwrap();
        writer.set_nodelay(true).unwrap();
        Self { reader: BufReader::new(writer.try_clone().unwrap()), writer }
    }

    fn ask(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).unwrap();
        answer(&mut self.reader);
    }
}

/// Sends these requests from so many connections for a while.
pub fn load(address: SocketAddr, requests: &[Vec<u8>], clients: usize) -> Load {
    let stopped = AtomicBool::new(false);
    let client = |number: usize| {
        let (mut client, mut latencies) = (Client::connect(address), Vec::new());
        while !stopped.load(Ordering::Relaxed) {
            let asked = Instant::now();
            // In turns, so that one client alone is not one principal.
            client.ask(&requests[(number + latencies.len()) % requests.len()]);
            latencies.push(asked.elapsed());
        }
        latencies
    };
    let (start, client) = (Instant::now(), &client);
    let mut latencies: Vec<Duration> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|number| scope.spawn(move || client(number))).collect();
        std::thread::sleep(SLICE);
        stopped.store(true, Ordering::Relaxed);
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let rate = latencies.len() as f64 / start.elapsed().as_secs_f64();
    latencies.sort_unstable();
    Load { rate, latencies }
}

/// Sends so many of these requests from 128 connections.
pub fn fill(address: SocketAddr, requests: &[Vec<u8>], count: usize) {
    let sent = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..128 {
            let sent = &sent;
            scope.spawn(move || {
                let mut client = Client::connect(address);
                while sent.fetch_add(1, Ordering::Relaxed) < count {
                    client.ask(&requests[number % requests.len()]);
                }
            });
        }
    });
}

/// Reads one answer, which must be a good one.
fn answer(reader: &mut BufReader<TcpStream>) {
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    assert!(length == 0 || body.first() == Some(&b'{'));
}
