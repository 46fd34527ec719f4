//! The threads behind a proxy that are governed, and which of them are at work.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use countersign_policy::SessionId;

/// The governed threads by their ids.
#[derive(Debug, Default)]
pub(crate) struct Threads(BTreeMap<String, Thread>);

/// A thread whose settings were checked.
#[derive(Debug)]
pub(crate) struct Thread {
    /// Its session.
    pub(crate) session: SessionId,
    /// Where it works.
    pub(crate) folder: PathBuf,
    /// Turns that have begun and are not known to have ended.
    turns: BTreeSet<String>,
    /// Turns that the server was asked for and has not answered about.
    asked: u32,
}

impl Threads {
    /// Takes a thread in; one that is known stays at its work.
    pub(crate) fn govern(&mut self, id: String, session: SessionId, folder: PathBuf) {
        let known = self.0.remove(&id);
        let (turns, asked) = known.map(|thread| (thread.turns, thread.asked)).unwrap_or_default();
        self.0.insert(id, Thread { session, folder, turns, asked });
    }

    /// The thread, if it is governed.
    pub(crate) fn get(&self, id: &str) -> Option<&Thread> {
        self.0.get(id)
    }

    /// A thread is no longer governed.
    pub(crate) fn forget(&mut self, id: &str) {
        self.0.remove(id);
    }

    /// A turn is asked for, perhaps in another folder, in which the thread stays.
    pub(crate) fn ask_turn(&mut self, id: &str, folder: Option<&str>) {
        self.change(id, |thread| {
            thread.asked = thread.asked.saturating_add(1);
            if let Some(folder) = folder {
                thread.folder = thread.folder.join(folder);
            }
        });
    }

    /// The server has answered: with a turn, or without.
    pub(crate) fn answer_turn(&mut self, id: &str, turn: Option<&str>) {
        self.change(id, |thread| {
            thread.asked = thread.asked.saturating_sub(1);
            thread.turns.extend(turn.map(str::to_owned));
        });
    }

    /// A turn has begun.
    pub(crate) fn begin_turn(&mut self, id: &str, turn: &str) {
        self.change(id, |thread| thread.turns.extend([turn.to_owned()]));
    }

    /// A turn has ended.
    pub(crate) fn end_turn(&mut self, id: &str, turn: &str) {
        self.change(id, |thread| thread.turns.retain(|known| known != turn));
    }

    fn change(&mut self, id: &str, change: impl FnOnce(&mut Thread)) {
        if let Some(thread) = self.0.get_mut(id) {
            change(thread);
        }
    }
}

impl Thread {
    /// Whether a turn is under way, as far as anybody can tell.
    pub(crate) fn is_at_work(&self) -> bool {
        self.asked > 0 || !self.turns.is_empty()
    }
}
