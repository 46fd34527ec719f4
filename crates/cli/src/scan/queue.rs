//! Work that makes work, shared by several threads until none is left.

use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

/// A stack of work. The newest is done first, so that a tree is walked downwards and little has to wait.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
    waiting: AtomicUsize,
}

#[derive(Debug)]
struct State<T> {
    work: Vec<T>,
    /// What lies in `work` and what is being done.
    open: usize,
}

/// One piece of work that is being done; it counts as open until this is dropped.
#[derive(Debug)]
pub(super) struct Ticket<'q, T> {
    queue: &'q Queue<T>,
}

impl<T> Queue<T> {
    pub(super) fn new(work: Vec<T>) -> Self {
        let open = work.len();
        Self {
            state: Mutex::new(State { work, open }),
            changed: Condvar::new(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Adds work.
    pub(super) fn push(&self, work: T) {
        let mut state = self.lock();
        state.work.push(work);
        state.open = state.open.saturating_add(1);
        drop(state);
        if self.is_hungry() {
            self.changed.notify_one();
        }
    }

    /// Whether a thread waits for work.
    pub(super) fn is_hungry(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Takes work; nothing when all is done.
    pub(super) fn pop(&self) -> Option<(T, Ticket<'_, T>)> {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.work.pop() {
                return Some((work, Ticket { queue: self }));
            }
            if state.open == 0 {
                return None;
            }
            self.waiting.fetch_add(1, Ordering::Relaxed);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // A thread that panicked leaves the stack whole: it holds the lock only to push, pop and count.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Drop for Ticket<'_, T> {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.open = state.open.saturating_sub(1);
        if state.open == 0 {
            self.queue.changed.notify_all();
        }
    }
}
