//! The same decisions over HTTP, and what the framework alone would do.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    },
    time::{Duration, Instant},
};

use countersign_ledger::{Access, Principal};
use countersign_policy::{Mode, Role};
use countersign_service::{Caller, LogDetail, NewSession, Node, NodeOptions, ServeOptions, serve};

use crate::SLICE;

/// A service in a thread of this process, with an agent's token and a session of its own.
pub struct Served {
    address: SocketAddr,
    token: String,
    session: String,
}

pub fn start(data: &Path, database: Option<String>) -> Served {
    let options = NodeOptions { data: data.to_path_buf(), database, checkpoints: None };
    let node = Node::open(&options).unwrap();
    let owner = Caller::owner("bench").unwrap();
    let token = node.create_token(&owner, &Principal::parse("bench").unwrap(), Access::Admin).unwrap();
    let new = NewSession::new(Role::parse("copilot").unwrap(), Mode::WritesAllowed, "bench").unwrap();
    let session = node.start_session(&owner, new).unwrap().session_id.to_string();
    let options = ServeOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        behind_tls: false,
        hosts: Vec::new(),
        socket: None,
        detail: LogDetail::Off,
        journal: Box::new(|_| ()),
        traces: None,
    };
    let (found, address) = channel();
    std::thread::spawn(move || serve(node, options, |listening| found.send(listening.address).unwrap()).unwrap());
    Served { address: address.recv().unwrap(), token, session }
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
    /// The bytes of a decision that is to begin.
    pub fn decision(&self) -> Vec<u8> {
        let body = format!(
            r#"{{"session_id":"{}","action_kind":"fs.read","action_payload":{{"path":"src/main.rs"}},"proceed":true}}"#,
            self.session
        );
        request(self.address, &self.token, "/v1/decisions", &body)
    }

    /// The bytes of a what-if question; also asked of the framework alone.
    pub fn evaluation(&self, address: SocketAddr) -> Vec<u8> {
        let hash = "0".repeat(64);
        let body = format!(
            r#"{{"role":"copilot","mode":"writes_allowed","action_kind":"fs.write","action_hash":"{hash}","session_active":true,"capabilities_present":["fs.write"],"capabilities_allowed":["fs.write"],"evidence_kinds":[],"approval_present":false,"approval_valid":false,"approval_unexpired":false,"approval_unused":false,"warrant":null}}"#
        );
        request(address, &self.token, "/v1/policy/eval", &body)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

fn request(address: SocketAddr, token: &str, path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Sends these bytes from so many connections that stay open: answers a second, and how long each took, sorted.
pub fn load(address: SocketAddr, bytes: &[u8], clients: usize) -> (f64, Vec<Duration>) {
    let stopped = AtomicBool::new(false);
    let start = Instant::now();
    let mut latencies: Vec<Duration> = std::thread::scope(|scope| {
        let client = || {
            let stream = TcpStream::connect(address).unwrap();
            stream.set_nodelay(true).unwrap();
            let (mut reader, mut latencies) = (BufReader::new(stream.try_clone().unwrap()), Vec::new());
            let mut writer = stream;
            while !stopped.load(Ordering::Relaxed) {
                let asked = Instant::now();
                writer.write_all(bytes).unwrap();
                answer(&mut reader);
                latencies.push(asked.elapsed());
            }
            latencies
        };
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        std::thread::sleep(SLICE);
        stopped.store(true, Ordering::Relaxed);
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let rate = latencies.len() as f64 / start.elapsed().as_secs_f64();
    latencies.sort_unstable();
    (rate, latencies)
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
