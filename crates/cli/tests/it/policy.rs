//! `countersign policy`: every command on the shipped policies and on broken ones, seen from outside.

use std::path::Path;

use crate::support::{Ran, Sandbox};

fn shipped(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policy").join(name).display().to_string()
}

fn standard() -> String {
    shipped("odeu.instructions.v1.json")
}

/// A context of a copilot that may write, with some facts replaced.
fn context(changes: &[(&str, &str)]) -> String {
    let mut facts = vec![
        ("role", "\"copilot\""),
        ("mode", "\"writes_allowed\""),
        ("action_kind", "\"fs.read\""),
        ("action_hash", "\"0000000000000000000000000000000000000000000000000000000000000000\""),
        ("session_active", "true"),
        ("capabilities_present", "[]"),
        ("capabilities_allowed", "[]"),
        ("evidence_kinds", "[]"),
        ("approval_present", "false"),
        ("approval_valid", "false"),
        ("approval_unexpired", "false"),
        ("approval_unused", "false"),
        ("warrant", "null"),
        ("evaluation_ts", "\"2026-02-12T09:10:00Z\""),
    ];
    for (key, value) in changes {
        facts.iter_mut().filter(|(name, _)| name == key).for_each(|fact| fact.1 = value);
    }
    let members: Vec<String> = facts.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
    format!("{{{}}}\n", members.join(", "))
}

fn explain(kind: &str, changes: &[(&str, &str)]) -> Ran {
    let sandbox = Sandbox::new();
    let kind = format!("\"{kind}\"");
    let all: Vec<(&str, &str)> = changes.iter().copied().chain([("action_kind", kind.as_str())]).collect();
    sandbox.write("context.json", context(&all));
    sandbox.run(&["policy", "explain", "--in", &standard(), "--context", "context.json"])
}

const RULE: &str = r#"{"rule_id": "r", "rule_version": 1, "priority": 1, "kind": "allow", "when": WHEN, "then": {"effect": "allow_action"}, "message": "m", "code": "C"}"#;

fn policy_when(when: &str) -> String {
    format!(r#"{{"schema": "odeu.instructions.v1", "rules": [{}]}}"#, RULE.replace("WHEN", when))
}

#[test]
fn the_shipped_policies_are_valid_even_strictly_and_formatted() {
    for policy in [standard(), shipped("strict/odeu.instructions.v1.json")] {
        let ran = Sandbox::new().run(&["policy", "validate", "--in", &policy, "--strict"]);
        assert_eq!(ran.exit, Some(0), "{}", ran.stdout());
        assert!(ran.stdout().contains("\"issues\": []"), "{}", ran.stdout());
        assert_eq!(Sandbox::new().run(&["policy", "fmt", "--in", &policy, "--check"]).exit, Some(0));
    }
}

#[test]
fn a_report_has_every_problem_in_document_order() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "bad.json",
        policy_when(r#"{"atom": "rolle_is", "args": []}"#)
            .replace("\"priority\": 1", "\"priority\": \"high\""),
    );
    insta::assert_snapshot!(sandbox.run(&["policy", "validate", "--in", "bad.json"]).screen());
}

#[test]
fn a_parser_refusal_says_where_in_the_text_it_stands() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.json", "{\"schema\": 1,\n \"schema\": 2}");
    let ran = sandbox.run(&["policy", "validate", "--in", "bad.json"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stdout().contains("the key `schema` is there already at 2:2"), "{}", ran.stdout());
}

#[test]
fn the_firewall_has_its_own_code_only_when_strict() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.json", policy_when(r#"{"atom": "warrant_is", "args": ["invalid"]}"#));
    let strict = sandbox.run(&["policy", "validate", "--in", "bad.json", "--strict"]);
    let lax = sandbox.run(&["policy", "validate", "--in", "bad.json"]);
    assert_eq!((strict.exit, lax.exit), (Some(1), Some(1)));
    assert!(
        strict.stdout().contains("\"code\": \"URM_POLICY_DERIVE_FIREWALL_VIOLATION\""),
        "{}",
        strict.stdout()
    );
    assert!(lax.stdout().contains("\"code\": \"URM_POLICY_INVALID_SCHEMA\""), "{}", lax.stdout());
}

#[test]
fn rules_that_cannot_matter_are_warnings_and_change_nothing() {
    let sandbox = Sandbox::new();
    let never =
        r#"{"op": "and", "args": [{"atom": "role_is", "args": ["a"]}, {"atom": "role_is", "args": ["b"]}]}"#;
    sandbox.write("idle.json", policy_when(never));
    let ran = sandbox.run(&["policy", "validate", "--in", "idle.json", "--strict"]);
    assert_eq!(ran.exit, Some(0));
    assert!(
        ran.stdout().contains("RULE_NEVER_FIRES") && ran.stdout().contains("\"valid\": true"),
        "{}",
        ran.stdout()
    );
    assert!(!sandbox.run(&["policy", "validate", "--in", "idle.json"]).stdout().contains("RULE_NEVER_FIRES"));
}

#[test]
fn the_hash_is_of_the_form_that_can_be_shown() {
    let sandbox = Sandbox::new();
    let form = sandbox.run(&["policy", "hash", "--in", &standard(), "--form"]);
    sandbox.write("form.json", &form.stdout);
    let hash = sandbox.run(&["policy", "hash", "--in", &standard()]);
    assert_eq!(sandbox.run(&["canon", "--sha256", "form.json"]).stdout(), hash.stdout());
}

#[test]
fn yaml_comes_in_and_json_goes_out_with_the_same_meaning() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "team.yaml",
        "schema: odeu.instructions.v1\nrules:\n  - rule_id: r # the only one\n    rule_version: 1\n    priority: 1\n    kind: allow\n    when: {op: not, arg: {atom: mode_is, args: [read_only]}}\n    then: {effect: allow_action}\n    message: \"yes: it is\"\n    code: C\n",
    );
    sandbox.write(
        "team.json",
        policy_when(r#"{"op": "not", "arg": {"atom": "mode_is", "args": ["read_only"]}}"#),
    );
    assert_eq!(sandbox.run(&["policy", "fmt", "--in", "team.yaml", "--out", "out.json"]).exit, Some(0));
    let hashes = ["team.yaml", "team.json", "out.json"]
        .map(|file| sandbox.run(&["policy", "hash", "--in", file]).stdout);
    assert!(hashes.iter().all(|hash| *hash == hashes[0]));
    sandbox.write("bad.yaml", "schema: odeu.instructions.v1\nrules:\n  - kind: alow\n");
    let ran = sandbox.run(&["policy", "hash", "--in", "bad.yaml"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stderr().contains("bad.yaml:3:11 at /rules/0/kind"), "{}", ran.stderr());
    sandbox.write("twice.yaml", "schema: a\nschema: b\n");
    assert!(sandbox.run(&["policy", "hash", "--in", "twice.yaml"]).stderr().contains("YAML_DUPLICATE_KEY"));
    sandbox.write("anchor.yaml", "schema: &a odeu.instructions.v1\nrules: []\n");
    assert!(sandbox.run(&["policy", "hash", "--in", "anchor.yaml"]).stderr().contains("YAML_ALIASES"));
}

#[test]
fn eval_ends_as_the_decision_does() {
    let sandbox = Sandbox::new();
    let eval = |changes: &[(&str, &str)]| {
        sandbox.write("context.json", context(changes));
        sandbox.run(&["policy", "eval", "--in", &standard(), "--context", "context.json"]).exit
    };
    assert_eq!(eval(&[]), Some(0));
    assert_eq!(eval(&[("action_kind", "\"git.push_force\"")]), Some(1));
    assert_eq!(eval(&[("action_kind", "\"deploy\"")]), Some(4));
    assert_eq!(eval(&[("mode", "\"write_everything\"")]), Some(2));
    sandbox.write("bad.json", "{}");
    let ran = sandbox.run(&["policy", "eval", "--in", "bad.json", "--context", "context.json"]);
    assert_eq!(ran.exit, Some(2));
}

#[test]
fn the_time_comes_from_the_context_or_from_the_flag() {
    let sandbox = Sandbox::new();
    sandbox.write("with.json", context(&[]));
    sandbox.write("without.json", context(&[]).replace(", \"evaluation_ts\": \"2026-02-12T09:10:00Z\"", ""));
    let standard = standard();
    let eval = |file: &str, flag: &[&str]| {
        let arguments = [&["policy", "eval", "--in", &standard, "--context", file], flag].concat();
        sandbox.run(&arguments)
    };
    let flag = ["--evaluation-ts", "2026-02-12T09:10:00Z"];
    assert_eq!(eval("with.json", &[]).stdout(), eval("without.json", &flag).stdout());
    assert_eq!(eval("with.json", &flag).exit, Some(2));
    assert_eq!(eval("without.json", &[]).exit, Some(2));
    assert_eq!(eval("without.json", &["--evaluation-ts", "2026-02-30T09:10:00Z"]).exit, Some(2));
}

#[test]
fn a_trace_is_the_same_on_every_run() {
    let sandbox = Sandbox::new();
    sandbox.write("context.json", context(&[("action_kind", "\"deploy\"")]));
    let run = || sandbox.run(&["policy", "eval", "--in", &standard(), "--context", "context.json"]).stdout;
    assert_eq!(run(), run());
    insta::assert_snapshot!(String::from_utf8(run()).unwrap());
}

#[test]
fn explain_an_allow() {
    insta::assert_snapshot!(explain("fs.read", &[("mode", "\"read_only\"")]).stdout());
}

#[test]
fn explain_a_deny_by_rule() {
    insta::assert_snapshot!(explain("git.push_force", &[]).stdout());
}

#[test]
fn explain_a_fallback_deny() {
    insta::assert_snapshot!(explain("coffee.brew", &[]).stdout());
}

#[test]
fn explain_an_approval_needed() {
    insta::assert_snapshot!(explain("git.push", &[]).stdout());
}

#[test]
fn explain_for_machines_and_for_a_comment() {
    let sandbox = Sandbox::new();
    sandbox.write("context.json", context(&[]));
    let run = |format: &str| {
        sandbox.run(&[
            "policy",
            "explain",
            "--in",
            &standard(),
            "--context",
            "context.json",
            "--format",
            format,
        ])
    };
    assert!(run("json").stdout().contains("\"schema\": \"instruction-policy-explain@1\""));
    assert!(run("markdown").stdout().starts_with("**Allowed with READ_ALLOWED"));
}

#[test]
fn diff_says_when_no_context_changes() {
    let sandbox = Sandbox::new();
    let twice = r#"{"op": "and", "args": [{"atom": "session_active", "args": []}, {"atom": "session_active", "args": []}]}"#;
    sandbox
        .write("old.json", policy_when(r#"{"atom": "session_active", "args": []}"#))
        .write("new.json", policy_when(twice));
    insta::assert_snapshot!(sandbox.run(&["policy", "diff", "old.json", "new.json"]).screen());
}

#[test]
fn diff_shows_every_class_with_its_smallest_witness() {
    let sandbox = Sandbox::new();
    let old = r#"{"op": "and", "args": [{"atom": "role_is", "args": ["copilot"]}, {"atom": "mode_is", "args": ["writes_allowed"]}]}"#;
    sandbox
        .write("old.json", policy_when(old))
        .write("new.json", policy_when(r#"{"atom": "role_is", "args": ["copilot"]}"#));
    insta::assert_snapshot!(sandbox.run(&["policy", "diff", "old.json", "new.json"]).screen());
    let json = sandbox.run(&["policy", "diff", "old.json", "new.json", "--format", "json"]);
    assert!(json.stdout().contains("\"schema\": \"instruction-policy-diff@1\""));
}

/// Two approvals, then one: in words, as a change of decisions, and never as a tightening.
#[test]
fn diff_shows_that_fewer_people_are_asked() {
    let sandbox = Sandbox::new();
    let policy = |params: &str| {
        format!(
            r#"{{"schema": "odeu.instructions.v1", "rules": [
            {{"rule_id": "allow", "rule_version": 1, "priority": 1, "kind": "allow", "when": {{"atom": "session_active", "args": []}},
             "then": {{"effect": "allow_action"}}, "message": "", "code": "OK"}},
            {{"rule_id": "ask", "rule_version": 1, "priority": 1, "kind": "require", "when": {{"atom": "session_active", "args": []}},
             "then": {{"effect": "require_approval", "params": {params}}}, "message": "", "code": "ASK"}}]}}"#
        )
    };
    sandbox
        .write("two.json", policy(r#"{"approvals": 2, "reviewers": "security"}"#))
        .write("one.json", policy("{}"));
    insta::assert_snapshot!(sandbox.run(&["policy", "diff", "two.json", "one.json"]).screen());
    let prove = |flag: &str| {
        let ran = sandbox.run(&["policy", "prove", "--in", "one.json", flag, "two.json"]);
        (ran.exit, ran.stdout().lines().next().unwrap_or_default().to_owned())
    };
    assert_eq!(prove("--only-tightens"), (Some(1), "refuted  policy_only_tightens".to_owned()));
    assert_eq!(prove("--equivalent"), (Some(1), "refuted  policies_are_equivalent".to_owned()));
}

#[test]
fn test_runs_examples_and_cases_and_speaks_junit() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "cases.json",
        r#"{"schema": "countersign.policy-cases@1", "cases": [
            {"name": "reads pass", "context": {"action_kind": "fs.read", "session_active": true}, "expect": {"decision": "allow", "decision_code": "READ_ALLOWED"}},
            {"name": "a <wrong> hope", "context": {"action_kind": "deploy", "session_active": true}, "expect": {"decision": "allow"}}
        ]}"#,
    );
    let ran = sandbox.run(&["policy", "test", &standard(), "cases.json"]);
    assert_eq!(ran.exit, Some(1));
    insta::assert_snapshot!(ran.stdout());
    let junit = sandbox.run(&["policy", "test", &standard(), "cases.json", "--format", "junit"]);
    assert!(junit.stdout().contains("tests=\"62\" failures=\"1\""), "{}", junit.stdout());
    assert!(junit.stdout().contains("name=\"a &lt;wrong&gt; hope\""), "{}", junit.stdout());
    assert_eq!(sandbox.run(&["policy", "test", &standard()]).exit, Some(0));
}

#[test]
fn test_names_the_example_that_fails() {
    let sandbox = Sandbox::new();
    let failing = policy_when(r#"{"atom": "session_active", "args": []}"#).replace(
        "\"code\": \"C\"",
        "\"code\": \"C\", \"examples\": {\"match\": [{\"action_kind\": \"fs.read\"}]}",
    );
    sandbox.write("failing.json", failing);
    let ran = sandbox.run(&["policy", "test", "failing.json"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stdout().contains("FAILED r: match 0"), "{}", ran.stdout());
    assert!(ran.stdout().contains("not met: the session is active (it is not so)"), "{}", ran.stdout());
}

#[test]
fn coverage_names_rules_that_nothing_hits() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "cases.json",
        r#"{"schema": "countersign.policy-cases@1", "cases": [{"name": "n", "context": {"action_kind": "fs.read", "session_active": true}, "expect": {"decision": "allow"}}]}"#,
    );
    let ran = sandbox.run(&["policy", "coverage", &standard(), "cases.json"]);
    assert_eq!(ran.exit, Some(1));
    assert!(ran.stdout().contains("     0  deny.force_push  never hit"), "{}", ran.stdout());
    assert!(ran.stdout().ends_with("1 of 20 rules hit by 1 contexts\n"), "{}", ran.stdout());
    assert_eq!(sandbox.run(&["policy", "coverage", &standard()]).exit, Some(0));
}

#[test]
fn a_view_that_was_edited_is_refused_with_a_diff() {
    let sandbox = Sandbox::new();
    let standard = standard();
    let render = |flag: &[&str]| {
        let arguments = [&["policy", "render", "--in", &standard, "--out", "views"], flag].concat();
        sandbox.run(&arguments)
    };
    assert_eq!(render(&["--check"]).exit, Some(1));
    assert_eq!(render(&[]).exit, Some(0));
    assert_eq!(render(&["--check"]).exit, Some(0));
    let view = sandbox.read("views/AGENTS_POLICY_VIEW.md").unwrap();
    assert!(!view.contains('\r') && view.ends_with("```\n"));
    sandbox.write("views/AGENTS_POLICY_VIEW.md", view.replacen("deny.force_push", "deny.nothing", 1));
    let ran = render(&["--check"]);
    assert_eq!(ran.exit, Some(1));
    assert!(
        ran.stdout().contains("-| 10 | `deny.nothing`") && ran.stdout().contains("+| 10 | `deny.force_push`")
    );
    sandbox.write("views/AGENTS_POLICY_VIEW.md", view.replace('\n', "\r\n"));
    assert_eq!(render(&["--check"]).exit, Some(1));
}

#[test]
fn every_schema_can_be_printed() {
    for document in ["policy", "context", "lattice", "allow", "probe", "cases", "trace"] {
        let ran = Sandbox::new().run(&["policy", "schema", document]);
        assert!(ran.stdout().contains("https://json-schema.org/draft/2020-12/schema"), "{document}");
    }
}
