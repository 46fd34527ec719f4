//! Effect: process, files, database. A home, a workspace and the folders beside it for one run of a real client.
#![expect(clippy::disallowed_methods, reason = "Effect: process, files, database")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};

use super::model::Model;
use crate::support::{Ran, repository, skip};

/// Seconds after which a client is ended.
const PATIENCE_S: &str = "90";

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_countersign");

/// A real client's program; nothing, and a loud note, if it is not installed.
pub(crate) fn client(test: &str, path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("COUNTERSIGN_CLIENTS")
        .map_or_else(|| repository().join("target/clients"), PathBuf::from);
    let path = folder.join("node_modules").join(path);
    if path.exists() {
        return Some(path);
    }
    skip(test, &format!("`{}` is not installed; ./test installs it", path.display()));
    None
}

/// The Codex programs that are installed: the frozen one and a current one.
pub(crate) fn codex_versions(test: &str) -> Vec<PathBuf> {
    [CODEX_0_99, CODEX].into_iter().filter_map(|path| client(test, path)).collect()
}

pub(crate) const CLAUDE: &str = "@anthropic-ai/claude-code-linux-x64/claude";
pub(crate) const CODEX: &str = "codex-current/vendor/x86_64-unknown-linux-musl/bin/codex";
pub(crate) const CODEX_0_99: &str = "codex-0.99/vendor/x86_64-unknown-linux-musl/codex/codex";
pub(crate) const MCP_SDK: &str = "@modelcontextprotocol/sdk/dist/esm";
pub(crate) const FILESYSTEM_SERVER: &str = "@modelcontextprotocol/server-filesystem/dist/index.js";

/// Folders for one test: `work` is the workspace, `outside` is not, `home` is the user's.
pub(crate) struct Desk {
    folder: Arc<tempfile::TempDir>,
}

impl Clone for Desk {
    fn clone(&self) -> Self {
        Self { folder: Arc::clone(&self.folder) }
    }
}

impl Desk {
    pub(crate) fn new() -> Self {
        // Not under the folder for temporary files: Codex keeps no helpers there.
        let parent = repository().join("target/desks");
        fs::create_dir_all(&parent).unwrap();
        let folder = tempfile::tempdir_in(parent.canonicalize().unwrap()).unwrap();
        for name in ["work", "outside", "home", "home/codex", "home/claude", "tmp"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self { folder: Arc::new(folder) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// Writes a program.
    pub(crate) fn write_program(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(name, text);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// Waits until a file is there.
    pub(crate) fn wait_for(&self, name: &str) {
        let is_there = (0..600).any(|_| {
            self.has(name) || {
                std::thread::sleep(Duration::from_millis(50));
                false
            }
        });
        assert!(is_there, "{name} does not come");
    }

    pub(crate) fn allow_others(&self, name: &str) {
        self.set_mode(name, 0o666);
    }

    pub(crate) fn set_mode(&self, name: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// The permission bits of a file or folder.
    pub(crate) fn mode(&self, name: &str) -> u32 {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(self.path(name)).unwrap().permissions().mode() & 0o7777
    }

    /// Makes a link to a file here, whether it is there or not.
    pub(crate) fn link(&self, name: &str, to: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(self.path(to), self.path(name)).unwrap();
    }

    pub(crate) fn is_link(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).unwrap().is_symlink()
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Runs a program in the workspace, at home here, and ends it when it takes too long.
    pub(crate) fn run(&self, program: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = Command::new("timeout");
        command.arg(PATIENCE_S).arg(program).args(arguments);
        self.settle(&mut command);
        command.envs(variables.iter().copied()).stdin(Stdio::null());
        let Output { status, stdout, stderr } = command.output().unwrap();
        Ran { exit: status.code(), stdout, stderr }
    }

    /// Runs the program under test with all of this on its standard input at once, and reads what it says meanwhile; ends it
    /// when it takes too long.
    pub(crate) fn pour(&self, arguments: &[&str], input: Vec<u8>) -> Ran {
        let mut command = Command::new("timeout");
        command.arg(PATIENCE_S).arg(PROGRAM).args(arguments);
        self.settle(&mut command);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = pipes.spawn().unwrap();
        let mut stdin = process.stdin.take().unwrap();
        std::thread::spawn(move || drop(stdin.write_all(&input)));
        let Output { status, stdout, stderr } = process.wait_with_output().unwrap();
        Ran { exit: status.code(), stdout, stderr }
    }

    /// A program that starts this one with the folder `etc` laid over the machine's own, where the machine lets a test have
    /// a view of files of its own.
    pub(crate) fn managed(&self, test: &str, program: &Path) -> Option<PathBuf> {
        fs::create_dir_all(self.path("etc")).unwrap();
        let mount = format!("mount -t overlay overlay -o lowerdir={}:/etc /etc", self.path("etc").display());
        let start = format!("{mount} && exec {} \"$@\"", program.display());
        self.write_program(
            "home/managed",
            &format!("#!/bin/bash\nexec unshare -rm bash -c '{start}' managed \"$@\"\n"),
        );
        let managed = self.path("home/managed");
        if self.run(&managed, &["--version"], &[]).exit == Some(0) {
            return Some(managed);
        }
        skip(test, "this machine has no namespaces for users");
        None
    }

    /// In the workspace, at home here.
    fn settle(&self, command: &mut Command) {
        command.current_dir(self.path("work")).env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env("XDG_DATA_HOME", self.path("home/data")).env("SHELL", "/bin/bash");
        command.env("CODEX_HOME", self.path("home/codex")).env("CLAUDE_CONFIG_DIR", self.path("home/claude"));
        command.env("COUNTERSIGN_SYSTEM_FOLDER", self.path("etc"));
    }

    /// Starts the program under test, to talk with it line by line.
    pub(crate) fn talk(&self, arguments: &[&str]) -> Talk {
        let mut command = Command::new(PROGRAM);
        self.settle(&mut command);
        command.args(arguments).env("MOCK_KEY", "x").stdin(Stdio::piped());
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let (heard, lines) = std::sync::mpsc::channel();
        let stdout = BufReader::new(process.stdout.take().unwrap());
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).for_each(|line| drop(heard.send(line)))
        });
        Talk { process, lines }
    }

    /// Runs the program under test, which must succeed.
    pub(crate) fn countersign(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(Path::new(PROGRAM), arguments, &[]);
        assert_eq!(ran.exit, Some(0), "{arguments:?}: {}", ran.screen());
        ran
    }

    /// Runs Claude Code with these steps, allowed to use every tool as far as it is concerned.
    pub(crate) fn claude(&self, program: &Path, model: &Model, steps: &Value, more: &[&str]) -> Ran {
        let prompt = format!("STEPS:{steps}");
        let mut arguments = vec![
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-hook-events",
            "--allowedTools=Bash,Write,Edit,Read,Agent,mcp__fs",
        ];
        arguments.extend(more);
        arguments.push(&prompt);
        let variables = [
            ("ANTHROPIC_BASE_URL", model.address.as_str()),
            ("ANTHROPIC_API_KEY", "dummy"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
        ];
        let ran = self.run(program, &arguments, &variables);
        assert_eq!(ran.exit, Some(0), "{}", ran.screen());
        assert!(model.heard().contains("STEPS:"), "the model was not asked: {}", ran.screen());
        ran
    }

    /// Writes Codex's settings: this model, nothing else on the network.
    pub(crate) fn configure_codex(&self, model: &Model, more: &str) {
        let address = &model.address;
        self.write(
            "home/codex/config.toml",
            &format!(
                "model = \"mock-model\"\nmodel_provider = \"mock\"\n[model_providers.mock]\nname = \"Mock\"\n\
                 base_url = \"{address}/v1\"\nwire_api = \"responses\"\nenv_key = \"MOCK_KEY\"\nrequest_max_retries = 0\n\
                 stream_max_retries = 0\n[analytics]\nenabled = false\n[features]\napps = false\nplugins = false\n\
                 remote_plugin = false\n{more}"
            ),
        );
    }

    /// Settings of Codex for the real filesystem server on the workspace; Codex waits for it before the first turn.
    pub(crate) fn file_server(&self, server: &Path) -> String {
        let (server, work) = (server.display().to_string(), self.path("work").display().to_string());
        format!(
            "[mcp_servers.fs]\ncommand = \"node\"\nargs = [{server:?}, {work:?}]\nrequired = true\nstartup_timeout_sec = 60\n"
        )
    }

    /// A workspace that is set up, and Codex with these settings.
    pub(crate) fn governed(model: &Model, more: &str) -> Self {
        let desk = Self::new();
        desk.configure_codex(model, more);
        desk.countersign(&["init"]);
        desk
    }

    /// Runs Codex with these steps, without any sandbox of its own.
    pub(crate) fn codex(&self, program: &Path, model: &Model, steps: &Value, more: &[&str]) -> Ran {
        let (prompt, work) = (format!("STEPS:{steps}"), self.path("work"));
        let mut arguments = vec!["exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "-C"];
        arguments.push(work.to_str().unwrap());
        arguments.extend(more);
        arguments.push(&prompt);
        let ran = self.run(program, &arguments, &[("MOCK_KEY", "x")]);
        assert_eq!(ran.exit, Some(0), "{}", ran.screen());
        assert!(model.heard().contains("STEPS:"), "the model was not asked: {}", ran.screen());
        ran
    }

    /// Holds the workspace's store: until the answer is dropped nobody else writes to it.
    pub(crate) fn hold_store(&self) -> rusqlite::Connection {
        let store = rusqlite::Connection::open(self.path("work/.countersign/state.db")).unwrap();
        store.execute_batch("BEGIN IMMEDIATE").unwrap();
        store
    }

    /// Registers an approver.
    pub(crate) fn enrol(&self) {
        let key = self.countersign(&["keys", "generate", "--name", "ann"]);
        self.countersign(&["keys", "add", key.stdout().trim()]);
    }

    /// A person says yes to everything that waits.
    pub(crate) fn approve_all(&self) {
        let pending = self.countersign(&["pending", "--format", "json"]);
        let pending: Value = serde_json::from_str(pending.stdout()).unwrap();
        for request in pending.as_array().unwrap() {
            self.countersign(&["approve", request["approval"]["approval_id"].as_str().unwrap()]);
        }
    }
}

/// A conversation with a program.
pub(crate) struct Talk {
    process: std::process::Child,
    lines: std::sync::mpsc::Receiver<String>,
}

impl Talk {
    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line.
    pub(crate) fn hear(&mut self) -> Value {
        let line = self.lines.recv_timeout(Duration::from_secs(60)).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The answer to a request; what the other side asks or tells meanwhile is answered or passed over.
    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        self.say(&request.to_string());
        loop {
            let heard = self.hear();
            if heard["method"] == "roots/list" {
                // The server waits a minute for this answer.
                self.say(&json!({"jsonrpc": "2.0", "id": heard["id"], "result": {"roots": []}}).to_string());
            } else if heard["method"].is_null() && heard["id"] == request["id"] {
                return heard;
            }
        }
    }
}

impl Talk {
    /// Ends the program as a crash would, in the middle of what it is at; what it has started has a second to notice and is
    /// then ended too.
    pub(crate) fn crash(&mut self) {
        std::thread::sleep(Duration::from_millis(700));
        let id = self.process.id();
        let started = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        std::thread::sleep(Duration::from_secs(1));
        for id in started.split_whitespace() {
            drop(Command::new("kill").args(["-9", id]).stderr(Stdio::null()).status());
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // With nothing more to read the program ends by itself, and so does what it has started.
        drop(self.process.stdin.take());
        drop(self.process.wait());
    }
}
