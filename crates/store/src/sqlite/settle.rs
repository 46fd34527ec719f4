//! The write-ahead log goes into the database beside the writer, which would stand still meanwhile if it did so itself.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

use rusqlite::Connection;

use crate::StoreError;

/// From how many pages on the log is put away; and from how many the writer does not wait for anybody else to do it.
const PAGES_LONG: i32 = 2000;
const PAGES_MAX: i32 = 20_000;

/// How many pages the writer may put away itself without being missed.
const PAGES_FEW: i64 = 250;
/// LIMIT: how often the log is gone through before what is left is few enough, or so be it.
const ROUNDS_MAX: usize = 4;

/// What the thread is told.
#[derive(Debug)]
enum Word {
    /// The log is long.
    Settle,
    /// The store is being closed.
    Stop,
}

/// A thread that puts the log away while others write.
///
/// It cannot do so to the end: as long as anybody writes, there is always another page. So it leaves a few, and the writer
/// puts those away after its next commit; then the log begins anew, instead of growing.
#[derive(Debug)]
pub(crate) struct Settler {
    words: SyncSender<Word>,
    is_nearly_done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Settler {
    /// Starts the thread, with a connection of its own.
    pub(crate) fn start(data: &Path) -> Result<Self, StoreError> {
        let connection = super::open(data)?;
        let (words, heard) = sync_channel(1);
        let is_nearly_done = Arc::new(AtomicBool::new(false));
        let done = Arc::clone(&is_nearly_done);
        let thread = std::thread::Builder::new()
            .name("countersign-settler".to_owned())
            .spawn(move || settle(&connection, &heard, &done))?;
        Ok(Self { words, is_nearly_done, thread: Some(thread) })
    }

    /// Has what this connection writes put away by the thread.
    pub(crate) fn follow(&self, connection: &mut Connection) -> Result<(), StoreError> {
        let (words, is_nearly_done) = (self.words.clone(), Arc::clone(&self.is_nearly_done));
        connection.wal_hook(Some(move |log: &mut rusqlite::hooks::Wal, pages: i32| {
            if is_nearly_done.swap(false, Ordering::AcqRel) || pages > PAGES_MAX {
                // The commit is durable already; what cannot be put away now stays in the log for later.
                let _later = log.checkpoint();
            } else if pages > PAGES_LONG {
                // One that was told already is not told twice.
                let _told = words.try_send(Word::Settle);
            }
            Ok(())
        }))?;
        Ok(())
    }
}

impl Drop for Settler {
    fn drop(&mut self) {
        let _gone_already = self.words.send(Word::Stop);
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

/// Puts the log away whenever somebody says that it is long.
fn settle(connection: &Connection, heard: &Receiver<Word>, is_nearly_done: &AtomicBool) {
    while let Ok(Word::Settle) = heard.recv() {
        let mut before = 0;
        for _ in 0..ROUNDS_MAX {
            // How many pages the log had when this began; all of them are in the database now.
            let put_away = connection
                .query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |row| row.get::<_, i64>(1))
                .unwrap_or(before);
            if put_away.saturating_sub(before) <= PAGES_FEW {
                break;
            }
            before = put_away;
        }
        is_nearly_done.store(true, Ordering::Release);
    }
}
