//! Effect: process. Runs this very program in a folder of its own, with an empty home and no environment.
#![expect(clippy::disallowed_methods, reason = "Effect: process")]

use std::{path::Path, process::Command};

use countersign_canon::Issue;

use crate::failure::codes;

/// Runs this program in `folder` with these arguments, `HOME` and `TMPDIR` set to `home` and nothing else; gives its exit code.
pub(crate) fn run_self(folder: &Path, home: &Path, arguments: &[&str]) -> Result<Option<i32>, Issue> {
    let run = || -> std::io::Result<Option<i32>> {
        let program = std::env::current_exe()?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).env_clear().env("HOME", home).env("TMPDIR", home);
        Ok(command.output()?.status.code())
    };
    run().map_err(|error| {
        Issue::new(codes::CLI_READ_FAILED, format!("this program could not be started again: {error}"))
    })
}
