//! What a hook costs before every call of a tool: this one in full, next to hooks that do nothing, in one run.

use std::{
    env, fs,
    io::Write as _,
    path::Path,
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

/// How often each hook is started.
const CALLS: usize = 200;

/// A hook: its name, its program and its arguments.
struct Hook {
    name: &'static str,
    command: Vec<String>,
}

fn main() -> ExitCode {
    let Some(program) = env::args().nth(1) else {
        eprintln!("usage: bench-hook COUNTERSIGN");
        return ExitCode::from(2);
    };
    let folder = tempfile::tempdir_in(".").expect("a folder on the disk, not in memory");
    let folder = folder.path().canonicalize().expect("a folder");
    let data = folder.join("user");
    let made = Command::new(&program).arg("init").current_dir(&folder).env("XDG_DATA_HOME", &data).output();
    assert!(made.expect("countersign init").status.success());
    fs::write(folder.join("empty.py"), "import json, sys\njson.load(sys.stdin)\n").expect("a file");
    fs::write(folder.join("empty.js"), "JSON.parse(require('fs').readFileSync(0, 'utf8'));\n").expect("a file");
    let path = |name: &str| folder.join(name).display().to_string();
    let hooks = [
        Hook { name: "/bin/true", command: vec!["/bin/true".into()] },
        Hook { name: "countersign hook", command: vec![program.clone(), "hook".into(), "claude-code".into()] },
        Hook { name: "Python, does nothing", command: vec!["python3".into(), path("empty.py")] },
        Hook { name: "Node, does nothing", command: vec!["node".into(), path("empty.js")] },
    ];
    let mut times: Vec<Vec<Duration>> = hooks.iter().map(|_| Vec::with_capacity(CALLS)).collect();
    // Taken in turns, so that whatever else the machine does meets all of them.
    for call in 0..CALLS {
        for (hook, times) in hooks.iter().zip(&mut times) {
            times.push(run(hook, &folder, &data, call));
        }
    }
    println!("{:<22} {:>8} {:>8} {:>8} {:>8} {:>10}", "hook, ms", "min", "p50", "p90", "p99", "of true");
    let mut medians = Vec::new();
    for (hook, times) in hooks.iter().zip(&mut times) {
        times.sort();
        let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)].as_secs_f64() * 1000.0;
        medians.push(at(50));
        let (min, p90, p99, ratio) = (at(0), at(90), at(99), at(50) / medians[0]);
        println!("{:<22} {min:>8.2} {:>8.2} {p90:>8.2} {p99:>8.2} {ratio:>9.1}x", hook.name, at(50));
    }
    println!("countersign hook is {:.3} of the Python hook", medians[1] / medians[2]);
    ExitCode::SUCCESS
}

/// Starts a hook on one call and waits for its end.
fn run(hook: &Hook, folder: &Path, data: &Path, call: usize) -> Duration {
    let input = format!(
        r#"{{"session_id":"bench","cwd":{:?},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"ls -la src"}},"tool_use_id":"call_{call}"}}"#,
        folder.display().to_string(),
    );
    let start = Instant::now();
    let mut child = Command::new(&hook.command[0])
        .args(&hook.command[1..])
        .current_dir(folder)
        .env("XDG_DATA_HOME", data)
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
