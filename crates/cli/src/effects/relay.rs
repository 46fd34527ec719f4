//! Effect: process, terminal. Stands between whoever started this program and a server: lines come from both, lines go to both.
#![expect(clippy::disallowed_methods, reason = "Effect: process, terminal")]

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Write as _},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
};

use countersign_canon::Issue;

use crate::failure::codes;

/// LIMIT: how many lines wait to be looked at.
const LINES_MAX: usize = 256;

/// What has come.
pub(crate) enum Came {
    /// A line of the client, without its end.
    FromClient(Vec<u8>),
    /// A line of the server, without its end.
    FromServer(Vec<u8>),
    /// The client says nothing more.
    ClientEnd,
    /// The server says nothing more.
    ServerEnd,
}

/// A place between a client and a server.
pub(crate) struct Relay {
    server: Child,
    stdin: Option<ChildStdin>,
    came: Receiver<Came>,
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
        let (comes, came) = sync_channel(LINES_MAX);
        let stdin = server.stdin.take();
        if let Some(stdout) = server.stdout.take() {
            let comes = comes.clone();
            std::thread::spawn(move || {
                pass(BufReader::new(stdout), &comes, Came::FromServer, Came::ServerEnd)
            });
        }
        std::thread::spawn(move || {
            pass(std::io::stdin().lock(), &comes, Came::FromClient, Came::ClientEnd);
        });
        Ok(Self { server, stdin, came })
    }

    /// The next line from either side.
    pub(crate) fn next(&self) -> Came {
        self.came.recv().unwrap_or(Came::ServerEnd)
    }

    /// A line for the server; a server that is gone is found out by its end.
    pub(crate) fn tell_server(&mut self, line: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            let _gone =
                stdin.write_all(line).and_then(|()| stdin.write_all(b"\n")).and_then(|()| stdin.flush());
        }
    }

    /// A line for the client; a client that is gone is found out by its end.
    #[expect(clippy::unused_self, reason = "only whoever stands between the two speaks to the client")]
    pub(crate) fn tell_client(&self, line: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        let _gone =
            stdout.write_all(line).and_then(|()| stdout.write_all(b"\n")).and_then(|()| stdout.flush());
    }

    /// Tells the server that nothing more comes.
    pub(crate) fn close_server(&mut self) {
        self.stdin = None;
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stdin = None;
        let _gone_already = self.server.kill();
        let _reaped = self.server.wait();
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

fn pass(mut from: impl BufRead, to: &SyncSender<Came>, line: fn(Vec<u8>) -> Came, end: Came) {
    let mut bytes = Vec::new();
    while from.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
        bytes.truncate(bytes.trim_ascii_end().len());
        if !bytes.is_empty() && to.send(line(std::mem::take(&mut bytes))).is_err() {
            return;
        }
        bytes.clear();
    }
    let _nobody_listens = to.send(end);
}
