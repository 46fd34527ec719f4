//! Effect: process. Runs the prover as a child, so that no solver runs in the service.
#![expect(clippy::disallowed_methods, reason = "Effect: process")]

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::ServiceError;

/// This very program: the prover, for whoever has it.
///
/// # Errors
///
/// Fails if the system does not say where it is.
pub fn this_program() -> Result<PathBuf, ServiceError> {
    std::env::current_exe()
        .map_err(|error| ServiceError::defect(format!("this program was not found: {error}")))
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
