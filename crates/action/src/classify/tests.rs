//! How a table is applied: options, operands, wrappers and folders, on a small table of its own.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::Json;

use super::*;
use crate::AbsolutePath;

const TABLE: &str = r#"{
  "schema": "countersign.actions.v1", "tools": {}, "folders": ["/bin"], "variables": ["PATH", "X_*"],
  "paths": [{"globs": ["/dev/null"], "write": "shell.read"}, {"globs": [".git/**"], "write": "fs.write_outside"}],
  "commands": [
    {"names": ["look"], "kind": "shell.read", "operands": "read"},
    {"names": ["put"], "kind": "shell.read", "operands": "write"},
    {"names": ["drop"], "kind": "fs.delete", "operands": "delete", "options": [{"names": ["-r", "--recursive"], "kind": "shell.destructive"}]},
    {"names": ["copy"], "kind": "shell.read", "operands": "copy"},
    {"names": ["out"], "kind": "shell.read", "others": "unknown", "options": [
      {"names": ["-o", "--output"], "value": "required", "role": "write"}, {"names": ["-q"]},
      {"names": ["-s"], "value": "optional"}, {"names": ["-k"], "value": "required", "kind": "deploy", "unless": ["safe*"]}]},
    {"names": ["run"], "kind": "shell.read", "operands": "command", "skip": "one", "others": "unknown", "options": [{"names": ["-v"]}]},
    {"names": ["line"], "kind": "shell.read", "operands": "script", "others": "unknown", "options": [{"names": ["-c"], "value": "required", "role": "line", "operands": "text"}]},
    {"names": ["tool"], "kind": "shell.write", "commands": [
      {"names": ["see"], "kind": "shell.read"}, {"names": ["send"], "kind": "git.push", "prefixes": [{"prefix": "+", "kind": "git.push_force"}]}]},
    {"names": ["seek"], "kind": "shell.read", "spelling": "words", "options": [{"names": ["-do"], "role": "enclosed"}]},
    {"names": ["get"], "kind": "shell.unknown", "options": [{"names": ["--list"], "instead": "shell.read"}]}
  ]
}"#;

fn place() -> Place {
    let path = |text| AbsolutePath::parse(text).unwrap();
    Place { cwd: path("/w/a"), workspace: path("/w/a"), home: None }
}

#[track_caller]
fn are(kind: &str, lines: &[&str]) {
    let table = Table::load(&Json::parse(TABLE.as_bytes()).unwrap()).unwrap();
    for line in lines {
        let found = classify_line(&table, &place(), line);
        assert_eq!(found.kind.as_str(), kind, "{line}: {:?}", found.findings);
    }
}

#[test]
fn operands_are_judged_by_their_role() {
    are("shell.read", &["look a /etc/b", "look $x", "put /dev/null", "copy a /dev/null"]);
    are("shell.write", &["put a", "copy /etc/a b", "copy $x b", "look > a"]);
    are(
        "fs.write_outside",
        &["put /etc/a", "put $x", "copy a /b", "put .git/config", "put ~/a", "look > $x", "put a ../b"],
    );
    are("fs.delete", &["drop a", "drop a/b c", "drop *"]);
    are(
        "shell.destructive",
        &["drop ..", "drop /", "drop .", "drop $x", "drop -r a", "drop a -r", "drop -xr a", "drop --rec a"],
    );
}

#[test]
fn options_are_found_however_they_are_written() {
    are(
        "shell.read",
        &["out", "out -q", "out x", "out -s", "out -sfoo", "out -k safe1", "out -ksafe1", "out -- -o"],
    );
    are(
        "shell.write",
        &["out -o a", "out -oa", "out -qoa", "out --output a", "out --output=a", "out --out=a"],
    );
    are("fs.write_outside", &["out -o /a", "out -o/a", "out --output=/a", "out --output=$x", "out -o$x"]);
    are("deploy", &["out -k x", "out -kx", "out -k $x"]);
    are("shell.unknown", &["out -z", "out --zzz", "out $x", "out -qz"]);
    are("shell.read", &["get --list"]);
    are("shell.unknown", &["get", "get x"]);
}

#[test]
fn what_runs_others_is_what_it_runs() {
    are(
        "shell.read",
        &[
            "run 5 look a",
            "run -v 5 look",
            "/bin/look a",
            "line -c 'look a'",
            "seek . -do look {} ;",
            "tool see",
        ],
    );
    are("fs.delete", &["run 5 drop a", "run 5 run 6 drop a", "line -c 'look; drop a'"]);
    are("git.push", &["tool send a"]);
    are("git.push_force", &["tool send +a", "tool send $x"]);
    are("shell.destructive", &["seek . -do drop {} ;", "seek . -do drop {} +"]);
    are("shell.write", &["line a.sh", "tool"]);
    are(
        "shell.unknown",
        &[
            "run 5 $x",
            "run 5 nope",
            "line -c \"$x\"",
            "line",
            "line /a.sh",
            "line -",
            "tool nope",
            "tool $x",
            "/tmp/look",
            "./look",
            "line -c 'look |'",
        ],
    );
}

#[test]
fn folders_are_followed() {
    are("shell.write", &["cd b && put ../c", "(cd b; put x)", "cd b; cd c; put x", "cd /w/a && put x"]);
    are(
        "fs.write_outside",
        &[
            "cd ..; put x",
            "cd b; put ../c",
            "cd b || put ../c",
            "cd $x; put a",
            "cd; put a",
            "cd - ; put a",
            "cd b && cd ../.. && put x",
        ],
    );
    are(
        "shell.write",
        &["(cd ..); put x", "cd .. & put x", "cd .. | look; put x", "cd b && (cd ../..); put x"],
    );
    are(
        "fs.write_outside",
        &[
            "for i in 1 2; do put x; cd ..; done",
            "while look; do cd b; put ../c; done",
            "if cd ..; then put x; fi",
            "case x in x) cd ..;; esac; put x",
        ],
    );
}

#[test]
fn variables_that_govern_make_a_line_unknown() {
    are("shell.read", &["A=1 look", "A=1", "A=$B look"]);
    are(
        "shell.unknown",
        &[
            "PATH=. look",
            "PATH=.",
            "X_Y=1 look",
            "A=1 PATH=2 look",
            "for PATH in a; do look; done",
            "run 5 PATH=. look",
            "look ${PATH:=a}",
        ],
    );
}

#[test]
fn a_substitution_may_not_be_worse_than_its_command() {
    are("shell.read", &["look $(look a)", "look `look a`", "look <(look a)"]);
    are("shell.write", &["look $(put a) > b", "put a; look $(look)"]);
    are(
        "shell.unknown",
        &[
            "look $(put a)",
            "look `drop a`",
            "look \"$(drop a)\"",
            "A=$(put a)",
            "look <(put a)",
            "look ${x:-$(put a)}",
            "look <<E\n$(put a)\nE",
        ],
    );
    are("shell.read", &["look <<'E'\n$(put a)\nE"]);
}

#[test]
fn nesting_is_bounded() {
    let table = Table::load(&Json::parse(TABLE.as_bytes()).unwrap()).unwrap();
    let runs = format!("{}look", "run 5 ".repeat(1000));
    assert_eq!(classify_line(&table, &place(), &runs).kind, Kind::ShellUnknown);
    let braces: Vec<String> =
        [10, 100, 10_000].iter().map(|count| format!("look {}", "{a,b}".repeat(*count))).collect();
    for line in braces {
        assert_eq!(classify_line(&table, &place(), &line).kind, Kind::ShellRead);
    }
    let many = "look; ".repeat(10_000);
    assert!(classify_line(&table, &place(), &many).findings.len() <= FINDINGS_MAX);
}
