//! Effect: process, files. Runs the program in a fresh folder and shows what a person would see.
#![expect(clippy::disallowed_methods, reason = "Effect: process, files")]

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

/// A folder of its own for one test.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Puts a file into the folder, with the folders it needs.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> &Self {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
        self
    }

    /// How many bytes a file has.
    pub(crate) fn bytes_of(&self, name: &str) -> u64 {
        fs::metadata(self.path().join(name)).unwrap().len()
    }

    /// Reads a file of the folder, if it is there.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path().join(name)).ok()
    }

    /// Lets everybody write a file of the folder.
    pub(crate) fn allow_others(&self, name: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(self.path().join(name), fs::Permissions::from_mode(0o666)).unwrap();
    }

    /// Takes a file out of the folder.
    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path().join(name)).unwrap();
    }

    /// Keeps everybody else from writing a store of the folder, until the value is dropped.
    pub(crate) fn hold_store(&self, name: &str) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.path().join(name)).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        connection
    }

    /// How long after its begin each execution of a store waits to be told how it went, the longest first.
    pub(crate) fn waits_s(&self, name: &str) -> Vec<i64> {
        let connection = rusqlite::Connection::open(self.path().join(name)).unwrap();
        let query =
            "SELECT due_at - unixepoch(json_extract(body, '$.begun_at')) FROM execution ORDER BY 1 DESC";
        let mut statement = connection.prepare(query).unwrap();
        let rows = statement.query_map((), |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// A socket at which somebody listens and never answers, until the value is dropped; the socket itself stays.
    pub(crate) fn mute_service(&self, name: &str) -> std::os::unix::net::UnixListener {
        std::os::unix::net::UnixListener::bind(self.path().join(name)).unwrap()
    }

    /// Runs the program there with these arguments.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with_input(arguments, b"")
    }

    /// Runs the program there with these arguments and standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self.start(arguments);
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_owned();
        // The program may end without reading everything; that is its business.
        let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Ran { exit: status.code(), stdout, stderr }
    }

    /// How long the program takes there with these arguments and standard input.
    pub(crate) fn time(&self, arguments: &[&str], input: &[u8]) -> Duration {
        let start = Instant::now();
        assert_eq!(self.run_with_input(arguments, input).exit, Some(0));
        start.elapsed()
    }

    /// Runs the program there and kills it after this time; its exit code, if it was over by then.
    pub(crate) fn run_and_kill(&self, arguments: &[&str], input: &[u8], after: Duration) -> Option<i32> {
        let mut child = self.start(arguments);
        child.stdin.take().unwrap().write_all(input).unwrap();
        std::thread::sleep(after);
        child.kill().unwrap();
        child.wait().unwrap().code()
    }

    fn start(&self, arguments: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(arguments)
            .current_dir(self.path())
            .env_remove("NO_COLOR")
            .env("XDG_DATA_HOME", self.path().join(".user"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }
}

/// Runs a shell script in a folder, with the program on the path and git as if nobody had configured it.
pub(crate) fn shell(folder: &Path, script: &str) -> Ran {
    let programs = Path::new(env!("CARGO_BIN_EXE_countersign")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(folder)
        .env("PATH", path)
        .stdin(Stdio::null());
    command.env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1").env_remove("NO_COLOR");
    for (role, name) in [("AUTHOR", "author"), ("COMMITTER", "committer")] {
        command.env(format!("GIT_{role}_NAME"), name).env(format!("GIT_{role}_EMAIL"), "nobody@example.org");
        command.env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
    }
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_CONFIG_GLOBAL"] {
        command.env_remove(name);
    }
    let Output { status, stdout, stderr } = command.output().unwrap();
    Ran { exit: status.code(), stdout, stderr }
}

/// Whether the long versions of tests are to be run.
pub(crate) fn is_soak() -> bool {
    std::env::var_os("COUNTERSIGN_SOAK").is_some()
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; nothing if a signal ended it.
    pub(crate) exit: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Ran {
    pub(crate) fn stdout(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }

    pub(crate) fn stderr(&self) -> &str {
        str::from_utf8(&self.stderr).unwrap()
    }

    /// The whole screen: exit code, then both outputs.
    pub(crate) fn screen(&self) -> String {
        let exit = self.exit.map_or("signal".to_owned(), |exit| exit.to_string());
        format!("exit {exit}\n--- stdout\n{}--- stderr\n{}", self.stdout(), self.stderr())
    }
}

/// The repository's root.
pub(crate) fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Reads a shipped file.
pub(crate) fn shipped_text(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

/// The files directly in a shipped folder, as paths from the root, sorted.
pub(crate) fn shipped_under(folder: &str) -> Vec<String> {
    let names = fs::read_dir(repository().join(folder)).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap())).collect();
    names.sort();
    names
}

/// Both outputs of a shell command that calls the program by its name.
pub(crate) fn run_in_shell(folder: &Path, command: &str) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_countersign")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let user = tempfile::tempdir().unwrap();
    let Output { stdout, stderr, .. } = Command::new("bash")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("XDG_DATA_HOME", user.path())
        .output()
        .unwrap();
    String::from_utf8([stdout, stderr].concat()).unwrap()
}

/// Notes that a test cannot run on this machine, where `./test` counts it.
pub(crate) fn skip(name: &str, why: &str) {
    if let Some(log) = std::env::var_os("COUNTERSIGN_SKIP_LOG") {
        let mut log = fs::OpenOptions::new().append(true).open(log).unwrap();
        writeln!(log, "{name}: {why}").unwrap();
    }
}
