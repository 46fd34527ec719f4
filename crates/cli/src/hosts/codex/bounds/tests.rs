//! What threads, turns and commands are started with, and which settings count as governed.

use countersign_canon::{Json, Object, Value};

use super::{Bounds, Sandbox};
use crate::hosts::codex::probe::Snapshot;

fn bounds(most: Sandbox, requirements: &str) -> Bounds {
    let requirements = Json::parse(requirements.as_bytes()).unwrap().into_owned();
    Bounds::new(most, &Snapshot { requirements: Some(requirements), ..Snapshot::default() })
}

fn object(text: &str) -> Object<'static> {
    let Value::Object(object) = Json::parse(text.as_bytes()).unwrap().into_owned().value else {
        panic!("{text}")
    };
    object
}

fn text(object: Object<'static>) -> String {
    Json::from(Value::Object(object)).to_canonical()
}

#[test]
fn a_thread_gets_what_is_asked_for_within_the_bounds() {
    let check = |most, requirements: &str, asked: &str, expected: &str| {
        let params = bounds(most, requirements).of_thread(object(asked));
        assert_eq!(params.get("sandbox").and_then(Json::as_str), Some(expected), "{asked}");
        assert_eq!(params.get("approvalPolicy").and_then(Json::as_str), Some("untrusted"));
        assert_eq!(params.get("approvalsReviewer").and_then(Json::as_str), Some("user"));
        assert_eq!(params.get("permissions"), None);
    };
    check(Sandbox::WorkspaceWrite, "null", "{}", "workspace-write");
    check(
        Sandbox::WorkspaceWrite,
        "null",
        r#"{"sandbox":"danger-full-access","permissions":"all"}"#,
        "workspace-write",
    );
    check(
        Sandbox::WorkspaceWrite,
        "null",
        r#"{"sandbox":"read-only","approvalPolicy":"never"}"#,
        "read-only",
    );
    check(Sandbox::DangerFullAccess, "null", r#"{"sandbox":"danger-full-access"}"#, "danger-full-access");
    check(Sandbox::ReadOnly, "null", r#"{"sandbox":"workspace-write"}"#, "read-only");
    let two = r#"{"allowedSandboxModes":["read-only","workspace-write"]}"#;
    check(Sandbox::DangerFullAccess, two, "{}", "workspace-write");
    check(Sandbox::DangerFullAccess, r#"{"allowedSandboxModes":[]}"#, "{}", "read-only");
}

#[test]
fn a_turn_and_a_command_cannot_leave_the_bounds() {
    let asked = r#"{"approvalPolicy":"never","approvalsReviewer":"auto_review","permissions":"all","sandboxPolicy":{"type":"dangerFullAccess"},"threadId":"t"}"#;
    assert_eq!(text(Bounds::of_turn(object(asked))), r#"{"threadId":"t"}"#);
    let bounds = bounds(Sandbox::WorkspaceWrite, "null");
    for (asked, expected) in [
        ("{}", "workspaceWrite"),
        (r#"{"sandboxPolicy":{"type":"dangerFullAccess"}}"#, "workspaceWrite"),
        (r#"{"sandboxPolicy":{"type":"externalSandbox"}}"#, "workspaceWrite"),
        (r#"{"sandboxPolicy":{"type":"readOnly"}}"#, "readOnly"),
    ] {
        let expected = format!(r#"{{"sandboxPolicy":{{"type":"{expected}"}}}}"#);
        assert_eq!(text(bounds.of_command(object(asked))), expected);
    }
}

#[test]
fn only_a_thread_that_asks_within_the_bounds_is_governed() {
    let check = |requirements: &str, settings: &str, expected: bool| {
        let settings = Json::parse(settings.as_bytes()).unwrap();
        let checked = bounds(Sandbox::WorkspaceWrite, requirements).check(&settings, "sandbox");
        assert_eq!(checked.is_ok(), expected, "{}: {checked:?}", settings.to_canonical());
    };
    check("null", r#"{"approvalPolicy":"untrusted","sandbox":{"type":"workspaceWrite"}}"#, true);
    check(
        "null",
        r#"{"approvalPolicy":"untrusted","sandbox":{"type":"readOnly"},"approvalsReviewer":"user"}"#,
        true,
    );
    check("null", r#"{"approvalPolicy":"on-request","sandbox":{"type":"readOnly"}}"#, false);
    check("null", r#"{"approvalPolicy":{"granular":{}},"sandbox":{"type":"readOnly"}}"#, false);
    check("null", r#"{"sandbox":{"type":"readOnly"}}"#, false);
    check("null", r#"{"approvalPolicy":"untrusted"}"#, false);
    check("null", r#"{"approvalPolicy":"untrusted","sandbox":{"type":"dangerFullAccess"}}"#, false);
    check("null", r#"{"approvalPolicy":"untrusted","sandbox":{"type":"externalSandbox"}}"#, false);
    check(
        "null",
        r#"{"approvalPolicy":"untrusted","sandbox":{"type":"readOnly"},"approvalsReviewer":"auto_review"}"#,
        false,
    );
    let offline = r#"{"network":{"enabled":false}}"#;
    check(
        offline,
        r#"{"approvalPolicy":"untrusted","sandbox":{"type":"workspaceWrite","networkAccess":true}}"#,
        false,
    );
    check(
        offline,
        r#"{"approvalPolicy":"untrusted","sandbox":{"type":"workspaceWrite","networkAccess":false}}"#,
        true,
    );
    check(
        r#"{"allowedSandboxModes":["read-only"]}"#,
        r#"{"approvalPolicy":"untrusted","sandbox":{"type":"workspaceWrite"}}"#,
        false,
    );
}
