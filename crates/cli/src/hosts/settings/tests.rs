//! Settings that people have written, with hooks put in.

use countersign_canon::Json;

use super::{Entry, Ours, has_hook, with_hooks, without_hooks};

const OURS: &str = "/bin/countersign hook codex";

fn ours() -> Ours {
    Ours { host: "codex", command: OURS.to_owned() }
}

fn entries() -> Vec<Entry> {
    let matcher = |command: &str| {
        let hook =
            Json::object([("type", Json::from("command")), ("command", Json::from(command.to_owned()))]);
        Json::object([("matcher", Json::from("*")), ("hooks", Json::array([hook]))])
    };
    vec![
        Entry { event: "PreToolUse", matcher: matcher(OURS) },
        Entry { event: "PostToolUse", matcher: matcher(OURS) },
    ]
}

/// Whatever was there stays, byte for byte, around what is put in; a second time nothing changes.
#[test]
fn hooks_are_put_in_and_everything_else_stays() {
    let before = [
        "",
        "{}",
        "{\n}\n",
        "{\"b\": 1, \"a\": 2}",
        "{\n  \"z\": true,\n  \"hooks\": {}\n}",
        "{\"hooks\": {\"PreToolUse\": []}}",
        "{\"hooks\": {\"PreToolUse\": [{\"hooks\": []}], \"Stop\": [1]}, \"a\": 0}",
        "{\"hooks\": {\"PostToolUse\": [ ] , \"PreToolUse\": [ 1 ]}}",
    ];
    for text in before {
        let edited = with_hooks(Some(text.as_bytes()), &entries(), &ours()).unwrap().unwrap();
        let json = Json::parse(edited.as_bytes()).unwrap();
        assert!(entries().iter().all(|entry| has_hook(&json, entry)), "{edited}");
        assert_eq!(with_hooks(Some(edited.as_bytes()), &entries(), &ours()).unwrap(), None);
        let rest = without_hooks(edited.as_bytes(), &ours(), Some(text.as_bytes())).unwrap().unwrap();
        let squeeze = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(squeeze(&rest), squeeze(if text.is_empty() { "{}" } else { text }), "{edited}");
        let mut rest = edited.chars();
        assert!(text.trim().chars().all(|sign| rest.any(|found| found == sign)), "{text} in {edited}");
    }
}

#[test]
fn settings_that_no_host_would_take_are_refused() {
    for text in ["[]", "{\"hooks\": []}", "{\"hooks\": {\"PreToolUse\": {}}}", "{\"a\": 1", "nonsense"] {
        assert!(with_hooks(Some(text.as_bytes()), &entries(), &ours()).is_err(), "{text}");
    }
}

/// What a host writes of its own, before and behind, in any order.
#[test]
fn our_hooks_are_cut_out_of_what_somebody_has_changed_since() {
    let hook = format!("{{\"command\": \"{OURS}\"}}");
    let check = |found: &str, expected: &str| {
        let rest = without_hooks(found.as_bytes(), &ours(), None).unwrap();
        assert_eq!(rest.as_deref(), Some(expected), "{found}");
    };
    for (found, expected) in [
        (r#"{"hooks": {"PreToolUse": [{"hooks": [H]}]}}"#, "{}"),
        (r#"{"a": 1, "hooks": {"PreToolUse": [{"hooks": [H]}]}, "b": "],}"}"#, r#"{"a": 1, "b": "],}"}"#),
        (
            r#"{"a": "\\\"",
  "hooks": {"PreToolUse": [{"hooks": [H]}]}
}"#,
            "{\"a\": \"\\\\\\\"\"\n}",
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"hooks": [1, H]}, {"hooks": [H]}], "Stop": []}}"#,
            r#"{"hooks": {"PreToolUse": [{"hooks": [1]}], "Stop": []}}"#,
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"hooks": [H]}, {"hooks": [2]}, {"hooks": [H]}, {"hooks": [H]}]}}"#,
            r#"{"hooks": {"PreToolUse": [ {"hooks": [2]}]}}"#,
        ),
    ] {
        check(&found.replace('H', &hook), expected);
    }
    let other = br#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "countersign hook gemini"}]}]}}"#;
    assert_eq!(without_hooks(other, &ours(), None).unwrap(), None);
}

#[test]
fn a_hook_of_this_program_from_elsewhere_is_replaced() {
    let old = OURS.replace("/bin", "'/old place").replace("countersign", "countersign-0.9'");
    let elsewhere = Ours { host: "codex", command: "nothing".to_owned() };
    assert!(elsewhere.is(&old) && elsewhere.is(OURS) && !elsewhere.is("x && countersign hook codex"));
    assert!(!elsewhere.is("/bin/countersign hook codex --help") && !elsewhere.is("other hook codex"));
    let installed = with_hooks(Some(b"{\"a\": 1}"), &entries(), &ours()).unwrap().unwrap();
    let before = installed.replace(OURS, &old);
    let again = with_hooks(Some(before.as_bytes()), &entries(), &ours()).unwrap();
    assert_eq!(again.as_deref(), Some(installed.as_str()));
}

#[test]
fn lines_end_as_the_others_do() {
    let before = "{\r\n  \"a\": 1\r\n}\r\n";
    let edited = with_hooks(Some(before.as_bytes()), &entries(), &ours()).unwrap().unwrap();
    assert_eq!(edited.matches('\n').count(), edited.matches("\r\n").count(), "{edited:?}");
    let rest = without_hooks(edited.as_bytes(), &ours(), None).unwrap();
    assert_eq!(rest.as_deref(), Some(before));
}
