//! Gate D: what plans cannot execute and cannot write (DE1, DE2): by what it depends on, by how it is written, and by what
//! comes out of it.

use countersign_canon::{Json, scan_payload};

use super::{
    Engine, Gate,
    dependencies::closure,
    examples::{COMMANDS, Examples, PLANNING},
};

pub(super) const GATE: Gate =
    Gate { letter: "D", what: "no execution, no writes: dependencies, sources, results", check };

/// Everything that the planner may depend on, directly or not. None of these can start a process, open a socket or touch a
/// file; they are built without an operating system by `./test`. `libc` is named by `cpufeatures` for processors other
/// than x86-64 alone, to ask what the processor can do; `cmov`, `const-oid` and `ctutils` are parts of `digest` that
/// others in this workspace turn on.
const REACHABLE: [&str; 16] = [
    "block-buffer",
    "cfg-if",
    "cmov",
    "const-oid",
    "countersign-canon",
    "countersign-dryrun",
    "countersign-intent",
    "cpufeatures",
    "crypto-common",
    "ctutils",
    "digest",
    "hybrid-array",
    "libc",
    "ryu-js",
    "sha2",
    "typenum",
];

/// What a pure source does not say, outside comments.
const FORBIDDEN: [&str; 4] = ["std::", "extern crate std", "unsafe ", "include!("];
/// What the commands around the planner do not say: they run nothing.
const FORBIDDEN_IN_COMMANDS: [&str; 4] = ["effects::git", "git::", "isolation", "Command::new"];
/// The one file that puts a plan in place.
const WRITER: &str = "crates/cli/src/dry_run/out.rs";

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    let mut complaints = dependencies(examples);
    complaints.extend(sources(examples));
    complaints.extend(documents(examples, engine));
    complaints
}

fn dependencies(examples: &Examples) -> Vec<String> {
    let reached = closure(&examples.sources, &["countersign-dryrun"]);
    let foreign = reached.iter().filter(|name| !REACHABLE.contains(&name.as_str()));
    let mut complaints: Vec<String> = foreign
        .map(|name| format!("Cargo.lock: the planner depends on `{name}`, which nobody has vouched for"))
        .collect();
    if !reached.contains("sha2") {
        complaints.push("Cargo.lock: the dependencies of the planner cannot be seen".to_owned());
    }
    complaints
}

fn sources(examples: &Examples) -> Vec<String> {
    let mut complaints = Vec::new();
    for folder in PLANNING {
        let root = examples.sources.get(&format!("{folder}/src/lib.rs")).map_or("", String::as_str);
        if !root.lines().any(|line| line == "#![no_std]") {
            complaints.push(format!("{folder}/src/lib.rs: does not say `#![no_std]`"));
        }
        if examples.sources.contains_key(&format!("{folder}/build.rs")) {
            complaints.push(format!("{folder}/build.rs: runs while it is built"));
        }
    }
    for (path, text) in &examples.sources {
        let is_planning = PLANNING.iter().any(|folder| path.starts_with(&format!("{folder}/src/")));
        let is_command = COMMANDS.iter().any(|folder| path.starts_with(folder));
        let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
        let words: &[&str] = match (is_planning, is_command) {
            _ if is_test => &[],
            (true, _) => &FORBIDDEN,
            (false, true) => &FORBIDDEN_IN_COMMANDS,
            (false, false) => &[],
        };
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let found = words.iter().find(|word| says(code, word));
            let writes = is_command && !is_test && path != WRITER && says(code, "folder::put");
            if let Some(word) = found.or(writes.then_some(&"folder::put")) {
                complaints.push(format!("{path}:{}: says `{word}`", number.saturating_add(1)));
            }
        }
    }
    complaints
}

/// Whether a line says these words, and not as the end of a longer name.
fn says(code: &str, words: &str) -> bool {
    code.match_indices(words).any(|(at, _)| {
        let before = code.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|character| character.is_alphanumeric() || character == '_')
    })
}

fn documents(examples: &Examples, engine: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut judge = |place: String, json: &Json<'_>| {
        let found = scan_payload(json).into_sorted();
        complaints.extend(found.iter().map(|issue| format!("{place}{}: {issue}", issue.pointer)));
    };
    for (name, bytes) in &examples.schemas {
        let text = String::from_utf8_lossy(bytes).into_owned();
        judge(format!("schemas/{name}"), &Json::parse(bytes).unwrap_or_else(|_| Json::from(text)));
    }
    for example in &examples.examples {
        for (file, bytes) in &example.files {
            // What is not JSON is looked at as one text.
            let text = String::from_utf8_lossy(bytes).into_owned();
            judge(
                format!("{}/{file}", example.name),
                &Json::parse(bytes).unwrap_or_else(|_| Json::from(text)),
            );
        }
        if let Ok(made) = examples.result(example, engine) {
            judge(format!("{}, made now", example.name), &made);
        }
    }
    if examples.schemas.len() < 5 {
        complaints.push("schemas/: some are missing".to_owned());
    }
    complaints
}
