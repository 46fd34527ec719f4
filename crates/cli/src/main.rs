//! Effect: process. The `countersign` program: hands its arguments over and ends with the answer's exit code.
#![expect(clippy::disallowed_methods, reason = "Effect: process")]

use std::process::ExitCode;

use countersign_cli::Exit;

fn main() -> ExitCode {
    // A panic is a defect, and a defect is not a yes: it ends as "could not tell", never with another code.
    let ended = std::panic::catch_unwind(|| countersign_cli::run(std::env::args_os()));
    ended.unwrap_or(Exit::CouldNotTell).into()
}
