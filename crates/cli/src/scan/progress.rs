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
        if terminal::stderr_is_terminal() {
            self.tell(done, Duration::from_secs(1), terminal::write_stderr);
        }
    }

    /// Tells the count again and again, on one line that is gone in the end; nothing if the end comes first.
    fn tell(&self, done: &Receiver<()>, every: Duration, mut say: impl FnMut(&str)) {
        let mut has_shown = false;
        while done.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
            has_shown = true;
            say(&format!("\r{} files searched", self.files.load(Ordering::Relaxed)));
        }
        if has_shown {
            // Back to the start of the line, and clear it.
            say("\r\u{1b}[K");
        }
    }
}

#[cfg(test)]
mod tests;
