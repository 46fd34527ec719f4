//! Effect: clock. Reads the time of day, once for each command that needs it, and measures how long things take.
#![expect(clippy::disallowed_methods, reason = "Effect: clock")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign_canon::{Issue, Timestamp};

use crate::failure::codes;

/// The time of day, to the second.
pub(crate) fn now() -> Result<Timestamp, Issue> {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    since_epoch
        .and_then(|since| i64::try_from(since.as_secs()).ok())
        .and_then(Timestamp::from_unix)
        .ok_or_else(|| {
            Issue::new(codes::CLI_CLOCK, "the clock of this machine is before 1970 or after 9999")
                .with_hint("set the clock")
        })
}

/// Measures how long something takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts to measure.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
