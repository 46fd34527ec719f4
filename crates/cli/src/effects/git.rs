//! Effect: process. Runs git, and nothing else: fixed arguments, no shell, a bare environment.
//!
//! Whatever the repository's configuration says, no program of its choosing is started, nothing is fetched, and the
//! answer does not depend on the user's own settings.
#![expect(clippy::disallowed_methods, reason = "Effect: process")]

use std::{
    ffi::OsStr,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio},
};

/// Settings that start programs, reach the network, or change what is listed: all off.
const SETTINGS: [&str; 8] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.alternateRefsCommand=",
    "core.untrackedCache=false",
    "diff.external=",
    "diff.ignoreSubmodules=none",
    "protocol.allow=never",
];

/// Variables that git reads, each with a value that leaves it alone with the repository.
const ENVIRONMENT: [(&str, &str); 10] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("LC_ALL", "C"),
];

/// Git in one folder.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    folder: PathBuf,
    /// The index to read, if it is not the repository's usual one: git sets this for its hooks.
    index: Option<PathBuf>,
    /// Folders of other owners that the user trusts.
    trusted: Vec<String>,
}

impl Git {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.into(), index: None, trusted: Vec::new() }
    }

    /// The same, with the index that git handed to a hook, if there is one.
    pub(crate) fn with_index_of_hook(mut self) -> io::Result<Self> {
        self.index = std::env::var_os("GIT_INDEX_FILE").map(std::path::absolute).transpose()?;
        Ok(self)
    }

    /// The same, with the folders that the user told git to trust; only those settings of the user are read.
    pub(crate) fn with_trust_of_user(mut self) -> io::Result<Self> {
        let mut command = Command::new("git");
        command.args(["config", "--global", "--null", "--get-all", "safe.directory"]).stdin(Stdio::null());
        let output = command.current_dir(&self.folder).output()?;
        let trusted = String::from_utf8_lossy(&output.stdout);
        self.trusted = trusted.split('\0').filter(|folder| !folder.is_empty()).map(String::from).collect();
        Ok(self)
    }

    /// Runs git to its end.
    pub(crate) fn output(&self, arguments: &[&OsStr]) -> io::Result<Output> {
        self.command().args(arguments).stdin(Stdio::null()).output()
    }

    /// Runs git to its end on a short input, and gives what it printed.
    pub(crate) fn ask(&self, arguments: &[&str], input: &[u8]) -> io::Result<Vec<u8>> {
        let (mut child, mut stdin, mut stdout) = self.start(arguments)?;
        let mut output = Vec::new();
        let written = stdin.write_all(input);
        drop(stdin);
        stdout.read_to_end(&mut output)?;
        child.wait()?;
        written.map(|()| output)
    }

    /// Starts git with both ends open.
    pub(crate) fn start(&self, arguments: &[&str]) -> io::Result<(Child, ChildStdin, ChildStdout)> {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Ok((child, stdin, stdout)),
            _ => Err(io::Error::other("git was started without its pipes")),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.env_clear().envs(ENVIRONMENT).current_dir(&self.folder);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.args(["--no-pager", "--no-replace-objects", "--literal-pathspecs", "--no-optional-locks"]);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        for folder in &self.trusted {
            command.args(["-c", &format!("safe.directory={folder}")]);
        }
        command
    }
}
