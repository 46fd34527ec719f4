//! Effect: clock. Reads the time of day, once for each request.
#![expect(clippy::disallowed_methods, reason = "Effect: clock")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign_canon::Timestamp;

use crate::ServiceError;

/// The time of day, to the second.
///
/// # Errors
///
/// Fails if the clock is before 1970 or after 9999.
pub fn now() -> Result<Timestamp, ServiceError> {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    since_epoch
        .and_then(|since| i64::try_from(since.as_secs()).ok())
        .and_then(Timestamp::from_unix)
        .ok_or(ServiceError::Clock)
}

/// An instant to measure from.
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// Lets some time pass.
pub(crate) fn pause(duration: Duration) {
    std::thread::sleep(duration);
}
