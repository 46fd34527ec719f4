//! What a hook costs before every call of a tool: this one in full, next to hooks that do nothing, in one run.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

/// How often each hook is started.
const CALLS: usize = 200;

/// The names of the rows that others are compared with.
const TRUE: &str = "/bin/true";
const PYTHON: &str = "Python, reads its input";

/// A hook: its name, its command, and the workspace that it is called in.
struct Hook {
    name: &'static str,
    command: Vec<String>,
    workspace: PathBuf,
}

/// A service, ended when the value is dropped.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _gone_already = self.0.kill();
        let _reaped = self.0.wait();
    }
}

fn main() -> ExitCode {
    let Some(program) = env::args().nth(1) else {
        eprintln!("usage: bench-hook COUNTERSIGN");
        return ExitCode::from(2);
    };
    let folder = tempfile::tempdir_in(".").expect("a folder on the disk, not in memory");
    let folder = folder.path().canonicalize().expect("a folder");
    let (alone, served) = (workspace(&program, &folder, "alone"), workspace(&program, &folder, "served"));
    let _service = serve(&program, &folder, &served);
    fs::write(folder.join("empty.py"), "import json, sys\njson.load(sys.stdin)\n").expect("a file");
    fs::write(folder.join("empty.js"), "JSON.parse(require('fs').readFileSync(0, 'utf8'));\n").expect("a file");
    let path = |name: &str| folder.join(name).display().to_string();
    let hook = |name, command: &[&str], workspace: &Path| Hook {
        name,
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        workspace: workspace.to_owned(),
    };
    let hooks = [
        hook(TRUE, &["/bin/true"], &alone),
        hook(PYTHON, &[&interpreter("python3", "import sys; print(sys.executable)"), &path("empty.py")], &alone),
        hook("Node, reads its input", &[&interpreter("node", "console.log(process.execPath)"), &path("empty.js")], &alone),
        hook("countersign hook", &[&program, "hook", "claude-code"], &alone),
        hook("countersign hook, service", &[&program, "hook", "claude-code"], &served),
    ];
    let mut times: Vec<Vec<Duration>> = hooks.iter().map(|_| Vec::with_capacity(CALLS)).collect();
    let mut syncs = Vec::with_capacity(CALLS);
    // Taken in turns, so that whatever else the machine does meets all of them.
    for call in 0..CALLS {
        for (hook, times) in hooks.iter().zip(&mut times) {
            times.push(run(hook, &folder, call));
        }
        syncs.push(sync(&folder.join("synced"), call));
    }
    let median = |name: &str| {
        let row = hooks.iter().position(|hook| hook.name == name).expect("a row");
        at(&times[row], 50)
    };
    let (floor, python) = (median(TRUE), median(PYTHON));
    println!("{:<26} {:>8} {:>8} {:>8} {:>9} {:>10}", "ms", "min", "p50", "p95", "of true", "of Python");
    for (hook, times) in hooks.iter().zip(&times) {
        let (min, p50, p95) = (at(times, 0), at(times, 50), at(times, 95));
        println!("{:<26} {min:>8.2} {p50:>8.2} {p95:>8.2} {:>8.1}x {:>10.3}", hook.name, p50 / floor, p50 / python);
    }
    println!("{:<26} {:>8.2} {:>8.2} {:>8.2}", "58 kB, fdatasync", at(&syncs, 0), at(&syncs, 50), at(&syncs, 95));
    ExitCode::SUCCESS
}

/// The time in milliseconds that this part of a hundred did not take longer than.
fn at(times: &[Duration], part: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort();
    times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1000.0
}

/// A workspace that is set up.
fn workspace(program: &str, folder: &Path, name: &str) -> PathBuf {
    let workspace = folder.join(name);
    fs::create_dir(&workspace).expect("a folder");
    let mut init = Command::new(program);
    let made = init.arg("init").current_dir(&workspace).env("XDG_DATA_HOME", folder.join("user")).output();
    assert!(made.expect("countersign init").status.success());
    workspace
}

/// A service on a workspace, once it listens.
fn serve(program: &str, folder: &Path, workspace: &Path) -> Service {
    let mut command = Command::new(program);
    command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(workspace);
    command.env("XDG_DATA_HOME", folder.join("user")).stdout(Stdio::piped());
    let mut service = Service(command.spawn().expect("countersign serve"));
    let stdout = service.0.stdout.take().expect("a pipe");
    let line = BufReader::new(stdout).lines().next().expect("a service that says where it listens");
    assert!(line.expect("a line").contains("service.sock"));
    service
}

/// The program behind a name, past any shim of a version manager.
fn interpreter(name: &str, script: &str) -> String {
    let flag = if name == "node" { "-e" } else { "-c" };
    let said = Command::new(name).args([flag, script]).output().expect("an interpreter").stdout;
    String::from_utf8(said).expect("a path").trim().to_owned()
}

/// Starts a hook on one call and waits for its end.
fn run(hook: &Hook, folder: &Path, call: usize) -> Duration {
    let cwd = hook.workspace.display().to_string();
    let input = format!(
        r#"{{"session_id":"bench","cwd":{cwd:?},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"ls -la src"}},"tool_use_id":"call_{call}"}}"#,
    );
    let start = Instant::now();
    let mut child = Command::new(&hook.command[0])
        .args(&hook.command[1..])
        .current_dir(&hook.workspace)
        .env("XDG_DATA_HOME", folder.join("user"))
        .env_remove("CLAUDE_PROJECT_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a hook that starts");
    // /bin/true does not read.
    let _unread = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let status = child.wait().expect("a hook that ends");
    let took = start.elapsed();
    assert!(status.success(), "{}: {status}", hook.name);
    took
}

/// Writes as much as a decision does over the start of a file, and waits for the disk: what no durable log can be faster than.
fn sync(path: &Path, call: usize) -> Duration {
    let mut file = fs::OpenOptions::new().create(true).truncate(false).write(true).open(path).expect("a file");
    file.seek(SeekFrom::Start(0)).expect("the start");
    file.write_all(&[call as u8; 58_000]).expect("a write");
    let start = Instant::now();
    file.sync_data().expect("a sync");
    start.elapsed()
}
