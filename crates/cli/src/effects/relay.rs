//! Effect: process, terminal. Stands between whoever started this program and a server: lines come from both, lines go to both.
#![expect(clippy::disallowed_methods, reason = "Effect: process, terminal")]

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::JoinHandle,
};

use countersign_canon::Issue;

use crate::{
    failure::codes,
    lines::traffic::{Came, Side, Told, Traffic},
};

/// A place between a client and a server. Each side has a thread that reads from it and one that writes to it; whoever
/// looks at the lines waits for neither.
pub(crate) struct Relay {
    server: Child,
    road: Arc<Road>,
    /// The thread that writes to the client.
    to_client: Option<JoinHandle<()>>,
}

/// The traffic, and a bell that rings when it has changed.
struct Road {
    traffic: Mutex<Traffic>,
    changed: Condvar,
}

impl Road {
    /// Waits until the traffic has this to give.
    fn wait<T>(&self, mut ask: impl FnMut(&mut Traffic) -> Option<T>) -> T {
        let mut traffic = self.traffic.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(given) = ask(&mut traffic) {
                self.changed.notify_all();
                return given;
            }
            traffic = self.changed.wait(traffic).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn change(&self, change: impl FnOnce(&mut Traffic)) {
        change(&mut self.traffic.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

impl Relay {
    /// Starts the server; its standard error is ours.
    pub(crate) fn start(program: &OsString, arguments: &[OsString]) -> Result<Self, Issue> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().map_err(|error| {
            let program = program.to_string_lossy();
            Issue::new(codes::CLI_START_FAILED, format!("`{program}` could not be started: {error}"))
        })?;
        let road = Arc::new(Road { traffic: Mutex::new(Traffic::new()), changed: Condvar::new() });
        let start = |work: fn(&Road)| {
            let road = Arc::clone(&road);
            std::thread::spawn(move || work(&road))
        };
        start(|road| read(std::io::stdin().lock(), road, Side::Client));
        let to_client = start(|road| write(std::io::stdout().lock(), road, Side::Client));
        if let Some((stdout, stdin)) = server.stdout.take().zip(server.stdin.take()) {
            let roads = (Arc::clone(&road), Arc::clone(&road));
            std::thread::spawn(move || read(BufReader::new(stdout), &roads.0, Side::Server));
            std::thread::spawn(move || write(stdin, &roads.1, Side::Server));
        }
        Ok(Self { server, road, to_client: Some(to_client) })
    }

    /// What has come from either side, as soon as it can be looked at.
    pub(crate) fn next(&self) -> Came {
        self.road.wait(Traffic::next)
    }

    /// A line for a side; one that is gone is found out by its end.
    pub(crate) fn tell(&self, to: Side, told: Told, line: Vec<u8>) {
        self.road.change(|traffic| traffic.tell(to, told, line));
    }

    /// Tells the server that nothing more comes, once it has been told what waits.
    pub(crate) fn close_server(&self) {
        self.road.change(|traffic| traffic.close(Side::Server));
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        let _gone_already = self.server.kill();
        let _reaped = self.server.wait();
        // The last words of the server are for the client, if it still reads.
        self.road.change(|traffic| traffic.close(Side::Client));
        if let Some(to_client) = self.to_client.take() {
            let _ended = to_client.join();
        }
    }
}

/// Answers the lines of whoever started this program, until there are no more.
pub(crate) fn serve(answer: &mut dyn FnMut(&[u8]) -> Option<String>) {
    let (mut lines, mut line) = (std::io::stdin().lock(), Vec::new());
    while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        if let Some(answer) = answer(line.trim_ascii()).filter(|_| !line.trim_ascii().is_empty()) {
            let mut stdout = std::io::stdout().lock();
            let told = stdout.write_all(answer.as_bytes()).and_then(|()| stdout.write_all(b"\n"));
            if told.and_then(|()| stdout.flush()).is_err() {
                return;
            }
        }
        line.clear();
    }
}

/// Hears what one side says, as long as there is room for it.
fn read(mut from: impl BufRead, road: &Road, side: Side) {
    let mut bytes = Vec::new();
    while from.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
        bytes.truncate(bytes.trim_ascii_end().len());
        if !bytes.is_empty() {
            road.wait(|traffic| traffic.has_room(side).then_some(()));
            road.change(|traffic| traffic.hear(side, std::mem::take(&mut bytes)));
        }
        bytes.clear();
    }
    road.change(|traffic| traffic.end(side));
}

/// Tells one side what waits for it, until there is no more.
fn write(mut to: impl Write, road: &Road, side: Side) {
    while let Some(mut line) = road.wait(|traffic| traffic.next_told(side)) {
        line.push(b'\n');
        if to.write_all(&line).and_then(|()| to.flush()).is_err() {
            return road.change(|traffic| traffic.deafen(side));
        }
    }
}
