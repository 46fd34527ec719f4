//! What is always refused, on a small table of its own.

use alloc::{collections::BTreeSet, string::String, vec::Vec};

use countersign_canon::{Json, Reader};

use super::{Denials, Stands, denials, shown};
use crate::{Kind, codes, table::Host};

pub(crate) const TABLE: &str = r#"{
  "schema": "countersign.actions.v1", "folders": ["/bin"], "variables": [],
  "tools": {
    "claude-code": [{"names": ["Bash"], "act": "shell", "fields": {"command": ["command"]}}, {"names": ["WebFetch"], "act": "fetch"}],
    "codex": [{"names": ["write_stdin"], "act": "type"}, {"names": ["web_search"], "act": "fetch"}],
    "gemini": [{"names": ["web_fetch", "google_web_search"], "act": "fetch"}]
  },
  "paths": [
    {"globs": ["/dev/null"], "write": "shell.read"},
    {"globs": ["/dev/**", "/proc/**", "/null/*"], "write": "shell.destructive"},
    {"globs": ["**/.ssh/**", "inside"], "read": "shell.unknown"}
  ],
  "commands": [
    {"names": ["wipe", "dd"], "kind": "shell.destructive"},
    {"names": ["get"], "kind": "shell.unknown", "options": [{"names": ["--list"], "instead": "shell.read"}]},
    {"names": ["java"], "kind": "shell.read", "with_operands": "shell.unknown"},
    {"names": ["rm"], "kind": "fs.delete", "operands": "delete", "options": [
      {"names": ["-r", "--recursive"], "kind": "shell.destructive"}, {"names": ["-b"], "value": "required"}, {"names": ["-x"]}]},
    {"names": ["run"], "kind": "shell.read", "operands": "command", "others": "unknown", "options": [
      {"names": ["-s"], "value": "required", "kind": "shell.unknown"}, {"names": ["-k"], "value": "required", "kind": "shell.unknown", "unless": ["safe"]}]},
    {"names": ["git"], "kind": "shell.write", "commands": [
      {"names": ["clean", "gc"], "kind": "shell.destructive"},
      {"names": ["push"], "kind": "git.push", "prefixes": [{"prefix": "+", "kind": "git.push_force"}],
        "options": [{"names": ["--force"], "kind": "git.push_force"}]}]}
  ]
}"#;

/// The kinds that the shipped policy always denies.
pub(crate) const SHIPPED: [Kind; 3] = [Kind::GitPushForce, Kind::ShellDestructive, Kind::ShellUnknown];

pub(crate) fn found(kinds: &[Kind]) -> Denials {
    let json = Json::parse(TABLE.as_bytes()).unwrap();
    let table = Reader::read_json(&json, codes::ACTION_TABLE_INVALID).unwrap();
    denials(&table, &kinds.iter().copied().collect::<BTreeSet<_>>())
}

#[test]
fn what_is_always_refused_is_told_from_what_depends() {
    let found = found(&SHIPPED);
    let commands: Vec<String> = found.commands.iter().map(|command| shown(&command.words)).collect();
    assert_eq!(commands, ["wipe|dd", "git clean|gc"]);
    let options = found.options.iter().map(|option| {
        (shown(&option.words), option.names.join("|"), option.bundles.join("|"), option.stands)
    });
    let expected = [
        ("rm", "-r|--recursive", "-fr|-ir|-qr|-rf|-ri|-rq|-rv|-rx|-vr|-xr", Stands::Anywhere),
        ("run", "-s", "", Stands::First),
        ("git push", "--force", "", Stands::Anywhere),
    ];
    let expected =
        expected.map(|(words, names, bundles, stands)| (words.into(), names.into(), bundles.into(), stands));
    assert_eq!(options.collect::<Vec<(String, String, String, Stands)>>(), expected);
    let paths: Vec<&str> = found.paths.iter().map(|path| path.glob.as_str()).collect();
    assert_eq!(paths, ["**/.ssh/**", "/proc/**", "/null/*"]);
    let named: Vec<&str> = found.gaps.iter().map(|gap| gap.what.as_str()).collect();
    for gap in ["/dev/**", "inside", "get", "java", "run -k", "git push +...", "codex: write_stdin"] {
        assert!(named.contains(&gap), "{gap}: {named:?}");
    }
}

#[test]
fn tools_are_refused_if_all_that_they_do_is() {
    assert!(found(&SHIPPED).tools.values().all(Vec::is_empty));
    let tools = found(&[Kind::NetFetch]).tools;
    assert_eq!(tools.get(&Host::ClaudeCode).unwrap(), &["WebFetch"]);
    assert_eq!(tools.get(&Host::Codex).unwrap(), &["web_search"]);
    assert_eq!(tools.get(&Host::Gemini).unwrap(), &["web_fetch", "google_web_search"]);
}

#[test]
fn without_a_denial_there_is_nothing_to_say() {
    let nothing = found(&[]);
    assert_eq!(
        (nothing.commands.len(), nothing.options.len(), nothing.paths.len(), nothing.gaps.len()),
        (0, 0, 0, 0)
    );
}
