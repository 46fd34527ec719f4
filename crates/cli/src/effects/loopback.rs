//! Effect: network, clock. Answers what a program on this machine asks over HTTP, on loopback alone.
#![expect(clippy::disallowed_methods, reason = "Effect: network, clock")]

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

use countersign_canon::Issue;

use crate::failure::codes;

/// LIMIT: how long a request may be.
const BODY_BYTES_MAX: u64 = 64 << 20;
/// LIMIT: how many lines stand before it.
const HEAD_LINES_MAX: usize = 200;
/// LIMIT: how long an answer waits for something else to be heard first.
const WAIT: Duration = Duration::from_secs(10);

/// What is answered.
pub(crate) struct Answer {
    /// The type of what follows.
    pub(crate) media: &'static str,
    /// The answer.
    pub(crate) text: String,
    /// What must have been heard before it is given, if anything.
    pub(crate) after: Option<String>,
}

/// Somebody who listens, until the program ends.
pub(crate) struct Loopback {
    pub(crate) address: String,
    heard: Arc<Heard>,
}

/// Every request so far.
#[derive(Default)]
struct Heard {
    bodies: Mutex<Vec<Vec<u8>>>,
    more: Condvar,
}

impl Loopback {
    /// Listens at a port of its own.
    ///
    /// # Errors
    ///
    /// Fails if there is none.
    pub(crate) fn listen(answer: fn(&str, &[u8]) -> Answer) -> Result<Self, Issue> {
        let failed = |error| {
            Issue::new(codes::CLI_START_FAILED, format!("nothing can be listened to on loopback: {error}"))
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        let address = format!("http://{}", listener.local_addr().map_err(failed)?);
        let heard = Arc::new(Heard::default());
        let shared = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let heard = Arc::clone(&shared);
                std::thread::spawn(move || serve(&stream, answer, &heard));
            }
        });
        Ok(Self { address, heard })
    }

    /// Whether a request has had this text in it.
    pub(crate) fn has_heard(&self, text: &str) -> bool {
        let bodies = self.heard.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        bodies.iter().any(|body| contains(body, text))
    }
}

/// Answers one request; whoever goes away meanwhile misses it.
fn serve(stream: &TcpStream, answer: fn(&str, &[u8]) -> Answer, heard: &Heard) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    for _ in 0..HEAD_LINES_MAX {
        line.clear();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<u64>().ok().filter(|length| *length <= BODY_BYTES_MAX)?;
        }
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body).ok()?;
    let Answer { media, text, after } = answer(&path, &body);
    let mut bodies = heard.bodies.lock().unwrap_or_else(PoisonError::into_inner);
    bodies.push(body);
    heard.more.notify_all();
    let is_waiting = |bodies: &mut Vec<Vec<u8>>| {
        after.as_deref().is_some_and(|after| !bodies.iter().any(|body| contains(body, after)))
    };
    drop(heard.more.wait_timeout_while(bodies, WAIT, is_waiting));
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {media}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes())).ok()
}

fn contains(body: &[u8], text: &str) -> bool {
    body.windows(text.len().max(1)).any(|window| window == text.as_bytes())
}
