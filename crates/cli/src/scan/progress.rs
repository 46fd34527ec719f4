//! What a person sees while a scan takes longer than a second.

use std::{
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use crate::effects::terminal;

/// How many files were searched so far.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    files: AtomicU64,
}

impl Progress {
    /// One more file was searched.
    pub(crate) fn file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }

    /// Shows the count each second on a terminal, until the other end of `done` is dropped.
    pub(crate) fn show(&self, done: &Receiver<()>) {
        if !terminal::stderr_is_terminal() {
            return;
        }
        let mut has_shown = false;
        while done.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
            has_shown = true;
            terminal::write_stderr(&format!("\r{} files searched", self.files.load(Ordering::Relaxed)));
        }
        if has_shown {
            // Back to the start of the line, and clear it.
            terminal::write_stderr("\r\u{1b}[K");
        }
    }
}
