//! A hook with a defect: it panics where the real one decides. The tests hand it to real hosts, which must take it for a no.

use std::process::ExitCode;

#[expect(clippy::panic, reason = "that is what it is for")]
fn main() -> ExitCode {
    countersign_cli::end(|| panic!("a planted defect"))
}
