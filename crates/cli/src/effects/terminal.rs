//! Effect: terminal. Writes to the two outputs.
#![expect(clippy::disallowed_methods, reason = "Effect: terminal")]

use std::io::{IsTerminal, Write};

/// Whether a person is looking at standard output.
pub(crate) fn stdout_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// Whether a person is looking at standard error.
pub(crate) fn stderr_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// Writes data and flushes it, so that a full disk is noticed.
pub(crate) fn write_stdout(bytes: &[u8]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Talks. If nobody can hear it, there is nobody to tell.
pub(crate) fn write_stderr(text: &str) {
    let _nobody_listens = std::io::stderr().lock().write_all(text.as_bytes());
}
