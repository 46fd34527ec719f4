//! The shipped table on the corpora: command lines, tool calls, and what must hold for any of them.
#![expect(clippy::arithmetic_side_effects, reason = "counts of test cases")]

use std::collections::{BTreeMap, BTreeSet};

use countersign_action::{
    AbsolutePath, Host, Kind, Place, Table, ToolCall, classify_line, normalise, parse_line,
};
use countersign_canon::Json;
use countersign_policy::{ActionKind, Lattice, action_hash};
use proptest::prelude::*;

use super::{load, shipped_actions};

const CORPUS: [&str; 5] = [
    include_str!("../../../../corpus/shell/looking.jsonl"),
    include_str!("../../../../corpus/shell/working.jsonl"),
    include_str!("../../../../corpus/shell/outside.jsonl"),
    include_str!("../../../../corpus/shell/destructive.jsonl"),
    include_str!("../../../../corpus/shell/unknown.jsonl"),
];

pub(crate) fn table() -> Table {
    shipped_actions().expect("the shipped table is valid")
}

pub(crate) fn place() -> Place {
    let path = |text| AbsolutePath::parse(text).unwrap();
    Place { cwd: path("/w/app"), workspace: path("/w/app"), home: Some(path("/users/u")) }
}

fn text(json: &Json<'_>, key: &str) -> String {
    json.get(key)
        .and_then(Json::as_str)
        .unwrap_or_else(|| panic!("{} lacks {key}", json.to_canonical()))
        .to_owned()
}

/// Every line of the corpus with the kind it must have.
pub(crate) fn corpus() -> Vec<(String, Kind)> {
    let rows = CORPUS.iter().flat_map(|file| file.lines());
    rows.map(|row| {
        let row = Json::parse(row.as_bytes()).unwrap();
        (text(&row, "line"), Kind::parse(&text(&row, "kind")).unwrap())
    })
    .collect()
}

#[test]
fn the_generated_lines_judge_as_their_source_does() {
    let (lines, source, place) = (table(), load(super::SHIPPED).unwrap(), place());
    for (line, _) in corpus() {
        assert_eq!(classify_line(&lines, &place, &line), classify_line(&source, &place, &line), "{line}");
    }
    for row in include_str!("../../../../corpus/calls/acts.jsonl").lines() {
        let row = Json::parse(row.as_bytes()).unwrap();
        for given in row.get("calls").and_then(Json::as_array).unwrap() {
            let call = ToolCall::read(given.get("call").unwrap()).unwrap();
            for host in Host::ALL {
                let (found, wanted) =
                    (normalise(&lines, *host, &call, &place), normalise(&source, *host, &call, &place));
                assert_eq!(found, wanted, "{host}: {call:?}");
            }
        }
    }
}

#[test]
fn every_line_of_the_corpus_is_of_its_kind() {
    let (table, place) = (table(), place());
    let wrong: Vec<String> = corpus()
        .iter()
        .filter_map(|(line, wanted)| {
            let found = classify_line(&table, &place, line);
            (found.kind != *wanted)
                .then(|| format!("{line:?}: {} instead of {wanted}: {:?}", found.kind, found.findings))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_corpus_is_large_and_has_no_line_twice() {
    let corpus = corpus();
    let lines: BTreeSet<&str> = corpus.iter().map(|(line, _)| line.as_str()).collect();
    assert_eq!(lines.len(), corpus.len());
    assert!(corpus.len() >= 800, "{}", corpus.len());
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    for (_, kind) in &corpus {
        *kinds.entry(*kind).or_default() += 1;
    }
    for kind in
        ["shell.read", "shell.write", "fs.delete", "fs.write_outside", "shell.destructive", "shell.unknown"]
    {
        assert!(
            kinds.get(&Kind::parse(kind).unwrap()).is_some_and(|count| *count >= 10),
            "{kind}: {kinds:?}"
        );
    }
}

#[test]
fn findings_explain_the_kind() {
    let (table, place) = (table(), place());
    for (line, kind) in corpus() {
        let found = classify_line(&table, &place, &line);
        let worst = found.findings.iter().map(|finding| finding.kind).max();
        assert!(worst.unwrap_or(Kind::ShellRead) == kind, "{line}: {:?}", found.findings);
        assert!(found.findings.iter().all(|finding| finding.at <= line.len()), "{line}");
    }
}

/// A kind that is worse never needs less: neither permission to write, nor a place among the denied.
#[test]
fn the_order_of_kinds_is_that_of_the_shipped_lattice() {
    let lattice = include_bytes!("../../../../policy/urm.capability.lattice.v1.json");
    let lattice = Json::parse(lattice).unwrap();
    assert!(Lattice::load(lattice.to_canonical().as_bytes()).is_ok());
    let actions = lattice.get("actions").and_then(Json::as_object).unwrap();
    let needs_writes = |kind: Kind| {
        let entry = actions.get(kind.as_str()).unwrap_or_else(|| panic!("the lattice lacks {kind}"));
        entry.get("requires_writes_allowed").and_then(Json::as_bool).unwrap()
    };
    let needs: Vec<bool> = Kind::ALL.iter().map(|kind| needs_writes(*kind)).collect();
    assert!(needs.is_sorted(), "{needs:?}");
    assert_eq!(actions.members().len(), Kind::ALL.len());
}

#[test]
fn the_same_act_has_the_same_hash_from_every_host() {
    let (table, place) = (table(), place());
    let mut hashes = BTreeMap::new();
    for row in include_str!("../../../../corpus/calls/acts.jsonl").lines() {
        let row = Json::parse(row.as_bytes()).unwrap();
        let what = text(&row, "what");
        let found: BTreeSet<(String, String)> = row
            .get("calls")
            .and_then(Json::as_array)
            .unwrap()
            .iter()
            .map(|given| {
                let host = Host::parse(&text(given, "host")).unwrap();
                let call = ToolCall::read(given.get("call").unwrap()).unwrap();
                let action =
                    normalise(&table, host, &call, &place).unwrap_or_else(|issue| panic!("{what}: {issue}"));
                let kind = ActionKind::parse(action.kind.as_str()).unwrap();
                let hash = action_hash(&kind, &action.payload).to_string();
                assert_eq!(
                    action.kind.as_str(),
                    text(&row, "kind"),
                    "{what}: {}",
                    action.payload.to_canonical()
                );
                (hash, action.payload.to_canonical())
            })
            .collect();
        assert_eq!(found.len(), 1, "{what}: {found:#?}");
        let (hash, payload) = found.into_iter().next().unwrap();
        // Different acts have different names.
        assert_eq!(hashes.insert(hash, what.clone()), None, "{what}: {payload}");
    }
}

#[test]
fn a_call_that_lacks_its_parts_is_refused() {
    let (table, place) = (table(), place());
    for row in include_str!("../../../../corpus/calls/refused.jsonl").lines() {
        let row = Json::parse(row.as_bytes()).unwrap();
        let host = Host::parse(&text(&row, "host")).unwrap();
        let action =
            ToolCall::read(row.get("call").unwrap()).and_then(|call| normalise(&table, host, &call, &place));
        let issue = action.expect_err(&text(&row, "what"));
        assert!(
            ["ACTION_CALL_INVALID", "ACTION_PATH_RELATIVE", "PATCH_SYNTAX"].contains(&issue.code.as_str())
        );
    }
}

#[test]
fn texts_stand_in_payloads_as_hashes_and_are_kept_as_evidence() {
    let call =
        Json::parse(br#"{"tool_name":"Write","tool_input":{"file_path":"a","content":"hi"}}"#).unwrap();
    let action = normalise(&table(), Host::ClaudeCode, &ToolCall::read(&call).unwrap(), &place()).unwrap();
    insta::assert_snapshot!(action.payload.to_canonical(), @r#"{"changes":[{"change":"write","content":{"bytes":2,"sha256":"8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"},"path":"a"}]}"#);
    assert_eq!(action.evidence[0].text, "hi");
}

#[test]
fn a_table_with_faults_is_refused_with_all_of_them() {
    let issues = load(b"schema: countersign.actions.v1\ntools: {}\npaths: []\nvariables: []\nfolders: []\ncommands:\n  - {names: [a], kind: shell.reed}\n  - {names: [b], kind: shell.read, operand: text}\n").unwrap_err();
    let found: Vec<String> =
        issues.iter().map(|issue| format!("{} {} {}", issue.code, issue.pointer, issue)).collect();
    assert_eq!(
        found,
        [
            "ACTION_TABLE_INVALID /commands/0/kind unknown value `shell.reed`",
            "ACTION_TABLE_INVALID /commands/1/operand unknown field `operand`",
        ]
    );
    let issues = load(b"schema: countersign.actions.v1\ntools: {}\npaths: []\nvariables: []\nfolders: []\ncommands:\n  - {names: [a], kind: shell.read}\n  - {names: [a], kind: deploy}\n").unwrap_err();
    assert_eq!(issues[0].cause.unwrap().as_str(), "ACTION_TABLE_REPEATED");
}

/// How a line can be put into another one.
const AROUND: [(&str, &str); 12] = [
    ("", "\n"),
    ("ls\n", ""),
    ("(\n", "\n)"),
    ("{\n", "\n}"),
    ("if true; then\n", "\nfi"),
    ("for i in 1 2; do\n", "\ndone"),
    ("while false; do\n", "\ndone"),
    ("true && {\n", "\n}"),
    ("case x in x)\n", "\n;; esac"),
    ("echo \"$(\n", "\n)\""),
    ("! {\n", "\n}"),
    ("ls | {\n", "\n}"),
];

fn is_parsed(line: &str) -> bool {
    parse_line(line).is_ok()
}

#[test]
fn a_line_inside_another_is_never_milder() {
    let (table, place) = (table(), place());
    for (line, kind) in corpus().iter().filter(|(line, _)| is_parsed(line)) {
        for (before, after) in AROUND {
            let whole = format!("{before}{line}{after}");
            // A body must not be empty; that some lines are is not the point here.
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let found = classify_line(&table, &place, &whole);
            assert!(found.kind >= *kind, "{whole:?}: {} is milder than {kind}", found.kind);
        }
        let quoted = line.replace('\'', "'\\''");
        let found = classify_line(&table, &place, &format!("bash -c '{quoted}'"));
        assert!(found.kind >= *kind, "bash -c {line:?}: {} is milder than {kind}", found.kind);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(10_000) })]

    #[test]
    fn adding_a_command_never_lowers_severity(first in 0..10_000_usize, second in 0..10_000_usize) {
        type Known = (Table, Place, Vec<(String, Kind)>);
        static KNOWN: std::sync::LazyLock<Known> = std::sync::LazyLock::new(|| {
            (table(), place(), corpus().into_iter().filter(|(line, _)| is_parsed(line)).collect())
        });
        let (table, place, lines) = &*KNOWN;
        let ((a, a_kind), (b, b_kind)) = (&lines[first % lines.len()], &lines[second % lines.len()]);
        let whole = format!("{a}\n{b}");
        let found = classify_line(table, place, &whole);
        prop_assert!(found.kind >= *a_kind.max(b_kind), "{whole:?}: {} is milder than {a_kind} or {b_kind}", found.kind);
    }

    #[test]
    fn what_is_not_in_the_table_is_unknown(name in "[a-z]{3,10}_[a-z0-9]{1,5}", arguments in "[ -~]{0,30}") {
        static TABLE: std::sync::LazyLock<Table> = std::sync::LazyLock::new(table);
        for line in [format!("{name} {arguments}"), format!("ls; {name} {arguments}"), format!("env {name}")] {
            // What follows may be a parenthesis or an unclosed quote: that is unknown too. An `=` would assign.
            let found = classify_line(&TABLE, &place(), &line);
            prop_assert_eq!(found.kind, Kind::ShellUnknown, "{}", line);
        }
    }

    #[test]
    fn what_cannot_be_parsed_is_unknown(line in "[ a-z0-9$(){}\\[\\]'\"`|&;<>\\\\\n#=!*~-]{0,40}") {
        static TABLE: std::sync::LazyLock<Table> = std::sync::LazyLock::new(table);
        let found = classify_line(&TABLE, &place(), &line);
        if !is_parsed(&line) {
            prop_assert_eq!(found.kind, Kind::ShellUnknown);
        }
    }
}
