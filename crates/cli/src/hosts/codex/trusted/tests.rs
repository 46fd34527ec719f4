//! Codex's settings, with its trust in hooks taken out.

use countersign_canon::Json;

use super::{super::super::settings::Ours, keys, without};

const TRUSTED: &str = "[hooks.state.\"/h/hooks.json:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:aa\"\n";
const OTHER: &str = "[hooks.state.\"/h/hooks.json:pre_tool_use:1:0\" ]\ntrusted_hash = \"sha256:bb\"\n";

#[test]
fn our_hooks_are_named_by_their_places() {
    let ours = Ours { host: "codex", command: "/new/x hook codex".to_owned() };
    let settings = br#"{"hooks": {"PreToolUse": [
        {"hooks": [{"command": "other"}]},
        {"hooks": [{"command": "other"}, {"command": "/old/countersign hook codex"}]}
    ], "PostToolUse": [{"hooks": [{"command": "/new/x hook codex"}]}]}}"#;
    let found = keys("/h/hooks.json", &Json::parse(settings).unwrap(), &ours);
    assert_eq!(found, ["/h/hooks.json:pre_tool_use:1:1", "/h/hooks.json:post_tool_use:0:0"]);
}

#[test]
fn trust_in_ours_goes_and_every_other_line_stays() {
    let keys = ["/h/hooks.json:pre_tool_use:0:0".to_owned()];
    let check = |found: &str, before: Option<&str>, expected: Option<&str>| {
        assert_eq!(without(found, &keys, before).as_deref(), expected, "{found}");
    };
    check("", None, None);
    check(&format!("a = 1\n\n{OTHER}"), None, None);
    check(&format!("a = 1\n\n[hooks.state]\n\n{TRUSTED}"), Some("a = 1\n"), Some("a = 1\n"));
    check(&format!("{TRUSTED}\n[b]\nc = 1\n"), None, Some("[b]\nc = 1\n"));
    check(
        &format!("a = 1\n\n[hooks.state]\n\n{OTHER}\n{TRUSTED}"),
        Some("[hooks.state]\n"),
        Some(&format!("a = 1\n\n[hooks.state]\n\n{OTHER}")),
    );
    check(
        &format!("a = 1\n\n[hooks.state]\n\n{TRUSTED}\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"),
        Some("a = 1\n"),
        Some("a = 1\n\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"),
    );
}
