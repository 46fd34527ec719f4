//! Effect: process. Runs the prover as a child, so that no solver runs in the service.
#![expect(clippy::disallowed_methods, reason = "Effect: process")]

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// This very program, which has the prover.
pub(crate) fn this_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// Hands documents to the prover and gives what it says.
pub(crate) fn run(program: &Path, documents: &str) -> io::Result<Vec<u8>> {
    let mut command = Command::new(program);
    command.args(["policy", "prove", "--all", "--pipe"]).env_clear();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(documents.as_bytes())?;
    }
    Ok(child.wait_with_output()?.stdout)
}
