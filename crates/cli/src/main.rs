//! Effect: process. The `countersign` program: hands its arguments over and ends with the answer's exit code.
#![expect(clippy::disallowed_methods, reason = "Effect: process")]

use std::process::ExitCode;

fn main() -> ExitCode {
    countersign_cli::end(|| countersign_cli::run(std::env::args_os()))
}
