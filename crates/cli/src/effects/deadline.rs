//! Effect: process, clock, terminal. Ends the program when its time is up, whatever it is doing.
#![expect(clippy::disallowed_methods, reason = "Effect: process, clock, terminal")]

use std::{io::Write as _, time::Duration};

use countersign_canon::Issue;

use crate::{exit::Exit, failure::codes};

/// What the waiting thread needs to say a few words.
const STACK_BYTES: usize = 64 << 10;

/// From now on the program has this much time; then it says these words on standard error and ends so.
///
/// # Errors
///
/// Fails if no thread can be started to watch the time.
pub(crate) fn set(time: Duration, words: String, exit: Exit) -> Result<(), Issue> {
    let watch = move || {
        std::thread::sleep(time);
        // Nobody may be listening any more; the exit code is what counts.
        let _unheard = std::io::stderr().write_all(words.as_bytes());
        end(exit)
    };
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(watch) {
        Ok(_) => Ok(()),
        Err(error) => Err(Issue::new(codes::HOOK_DEFECT, format!("no thread could be started: {error}"))),
    }
}

#[expect(clippy::exit, reason = "whoever is late may be stuck anywhere: nothing else ends it")]
fn end(exit: Exit) {
    std::process::exit(i32::from(exit.number()));
}
