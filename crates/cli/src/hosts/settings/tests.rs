//! Settings that people have written, with hooks put in.

use countersign_canon::Json;

use super::{Entry, has_hook, with_hooks};

fn entries() -> Vec<Entry> {
    let matcher = |command: &str| {
        let hook =
            Json::object([("type", Json::from("command")), ("command", Json::from(command.to_owned()))]);
        Json::object([("matcher", Json::from("*")), ("hooks", Json::array([hook]))])
    };
    vec![
        Entry { event: "PreToolUse", matcher: matcher("ours") },
        Entry { event: "PostToolUse", matcher: matcher("ours") },
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
        let edited = with_hooks(Some(text.as_bytes()), &entries()).unwrap().unwrap();
        let json = Json::parse(edited.as_bytes()).unwrap();
        assert!(entries().iter().all(|entry| has_hook(&json, entry)), "{edited}");
        assert_eq!(with_hooks(Some(edited.as_bytes()), &entries()).unwrap(), None);
        let mut rest = edited.chars();
        assert!(text.trim().chars().all(|sign| rest.any(|found| found == sign)), "{text} in {edited}");
    }
}

#[test]
fn settings_that_no_host_would_take_are_refused() {
    for text in ["[]", "{\"hooks\": []}", "{\"hooks\": {\"PreToolUse\": {}}}", "{\"a\": 1", "nonsense"] {
        assert!(with_hooks(Some(text.as_bytes()), &entries()).is_err(), "{text}");
    }
}
