//! Effect: process. Talks with another program line by line, each answer within its time.
#![expect(clippy::disallowed_methods, reason = "Effect: process")]

use std::{
    ffi::{OsStr, OsString},
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{ChildStdin, Command, ExitStatus, Output, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    time::{Duration, Instant},
};

use countersign_canon::Issue;

use crate::failure::codes;

/// LIMIT: how many lines of a program wait to be read.
const LINES_MAX: usize = 1024;

/// How long to wait before looking again whether a program has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// A program that is running.
pub(crate) struct Child {
    process: std::process::Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
}

/// What came from a program.
pub(crate) enum Heard {
    /// A line, without its end.
    Line(Vec<u8>),
    /// Nothing in time.
    Silence,
    /// It has ended, or closed its output.
    End,
}

/// What becomes of what a program says on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Errors {
    /// It goes nowhere.
    Hidden,
    /// It goes where ours goes.
    Shown,
}

/// How a program is started.
pub(crate) struct Start<'s> {
    pub(crate) program: &'s OsStr,
    pub(crate) arguments: &'s [OsString],
    pub(crate) environment: &'s [(&'s str, OsString)],
    pub(crate) folder: Option<&'s Path>,
}

impl Start<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command.args(self.arguments).envs(self.environment.iter().map(|(key, value)| (key, value)));
        if let Some(folder) = self.folder {
            command.current_dir(folder);
        }
        command
    }

    fn failed(&self, error: &std::io::Error) -> Issue {
        let program = self.program.to_string_lossy();
        Issue::new(codes::CLI_START_FAILED, format!("`{program}` could not be started: {error}"))
            .with_hint("check that it is installed, or name it with its path")
    }
}

impl Child {
    /// Starts a program; what it says on standard error goes nowhere.
    pub(crate) fn start(start: &Start<'_>) -> Result<Self, Issue> {
        Self::start_with(start, Errors::Hidden)
    }

    /// Starts a program.
    pub(crate) fn start_with(start: &Start<'_>, errors: Errors) -> Result<Self, Issue> {
        let mut command = start.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(match errors {
            Errors::Hidden => Stdio::null(),
            Errors::Shown => Stdio::inherit(),
        });
        let mut process = command.spawn().map_err(|error| start.failed(&error))?;
        let (heard, lines) = sync_channel(LINES_MAX);
        if let Some(stdout) = process.stdout.take() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stdout);
                let mut line = Vec::new();
                while reader.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                    line.truncate(line.trim_ascii_end().len());
                    if heard.send(std::mem::take(&mut line)).is_err() {
                        return;
                    }
                }
            });
        }
        let stdin = process.stdin.take();
        Ok(Self { process, stdin, lines })
    }

    /// Says one line; whether the program could still hear it.
    pub(crate) fn say(&mut self, line: &[u8]) -> bool {
        self.stdin.as_mut().is_some_and(|stdin| {
            stdin.write_all(line).and_then(|()| stdin.write_all(b"\n")).and_then(|()| stdin.flush()).is_ok()
        })
    }

    /// Says that nothing more comes.
    pub(crate) fn end_input(&mut self) {
        self.stdin = None;
    }

    /// How the program ended, if it does in time.
    pub(crate) fn wait(&mut self, within: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if start.elapsed() < within => std::thread::sleep(LOOK_AGAIN),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// The next line, if it comes in time.
    pub(crate) fn hear(&self, within: Duration) -> Heard {
        match self.lines.recv_timeout(within) {
            Ok(line) => Heard::Line(line),
            Err(RecvTimeoutError::Timeout) => Heard::Silence,
            Err(RecvTimeoutError::Disconnected) => Heard::End,
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stdin = None;
        let _gone_already = self.process.kill();
        let _reaped = self.process.wait();
    }
}

/// Runs a program to its end with this on its standard input.
pub(crate) fn run(start: &Start<'_>, input: &[u8]) -> Result<Output, Issue> {
    let mut command = start.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().map_err(|error| start.failed(&error))?;
    let input = input.to_vec();
    if let Some(mut stdin) = process.stdin.take() {
        // A program may end without reading everything; that is its business.
        std::thread::spawn(move || drop(stdin.write_all(&input)));
    }
    process.wait_with_output().map_err(|error| start.failed(&error))
}
