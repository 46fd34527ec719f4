//! Requests of both sides are the same acts as the calls that hooks see.

use countersign_action::{AbsolutePath, Action, Host, Place, ToolCall, normalise};
use countersign_canon::{Json, Object, Value};

use super::{of_client, of_server, steer};
use crate::actions::shipped_actions;

fn object(text: &str) -> Object<'static> {
    let Value::Object(object) = Json::parse(text.as_bytes()).unwrap().into_owned().value else {
        panic!("{text}")
    };
    object
}

fn action(call: &ToolCall) -> Action {
    let folder = AbsolutePath::parse("/srv/shop").unwrap();
    let place = Place { cwd: folder.clone(), workspace: folder, home: None };
    normalise(&shipped_actions().unwrap(), Host::Codex, call, &place).unwrap()
}

/// The action of what the hook of Codex is told.
fn hooked(call: &str) -> Action {
    action(&ToolCall::read(&Json::parse(call.as_bytes()).unwrap()).unwrap())
}

#[test]
fn the_same_act_is_the_same_action() {
    let touch = hooked(r#"{"tool_name":"Bash","tool_input":{"command":"touch made"}}"#);
    let asked = r#"{"command":"/bin/bash -lc 'touch made'","cwd":"/srv/shop","threadId":"t","itemId":"i"}"#;
    assert_eq!(
        action(&of_server("item/commandExecution/requestApproval", &object(asked), None).unwrap()),
        touch
    );
    let asked = object(r#"{"command":["bash","-lc","touch made"],"cwd":"/srv/shop"}"#);
    assert_eq!(action(&of_client("command/exec", &asked).unwrap()), touch);
    let asked = object(r#"{"command":"touch made","threadId":"t"}"#);
    assert_eq!(action(&of_client("thread/shellCommand", &asked).unwrap()).kind, touch.kind);

    let patch = r#"{"tool_name":"apply_patch","tool_input":{"input":"*** Begin Patch\n*** Add File: made\n+text\n*** End Patch"}}"#;
    let patch = hooked(patch).payload;
    let item =
        Json::parse(br#"{"changes":[{"path":"/srv/shop/made","kind":{"type":"add"},"diff":"text\n"}]}"#)
            .unwrap();
    let item = item.into_owned();
    let asked = of_server("item/fileChange/requestApproval", &Object::default(), Some(&item)).unwrap();
    assert_eq!(action(&asked).payload, patch);
    let asked = object(r#"{"path":"/srv/shop/made","dataBase64":"dGV4dAo="}"#);
    assert_eq!(action(&of_client("fs/writeFile", &asked).unwrap()).payload, patch);

    let told = hooked(r#"{"tool_name":"send_input","tool_input":{"message":"go on"}}"#);
    let asked = object(r#"{"input":[{"type":"text","text":"go on"}],"threadId":"t","expectedTurnId":"0"}"#);
    assert_eq!(action(&steer(&asked)), told);
    assert_eq!(action(&of_client("turn/steer", &asked).unwrap()), told);
}

#[test]
fn requests_have_the_kind_of_what_they_do() {
    let check = |method: &str, params: &str, kind: &str| {
        let found = action(&of_client(method, &object(params)).unwrap()).kind;
        assert_eq!(found.as_str(), kind, "{method} {params}");
    };
    check("command/exec", r#"{"command":["ls"]}"#, "shell.read");
    check("command/exec", r#"{"command":["ls"],"env":null}"#, "shell.read");
    check("command/exec", r#"{"command":["ls"],"env":{"PATH":"/tmp"}}"#, "shell.unknown");
    check("command/exec", r#"{"command":["git","push"]}"#, "git.push");
    check("fs/remove", r#"{"path":"/"}"#, "shell.destructive");
    check("fs/copy", r#"{"sourcePath":"/srv/shop/a","destinationPath":"/etc/passwd"}"#, "fs.write_outside");
    check("fs/createDirectory", r#"{"path":"/srv/shop/folder"}"#, "shell.write");
    check("fs/readFile", r#"{"path":"/srv/ann/.ssh/id_ed25519"}"#, "shell.unknown");
    check(
        "fs/writeFile",
        r#"{"path":"/srv/shop/.git/hooks/pre-commit","dataBase64":"eA=="}"#,
        "fs.write_outside",
    );
    check("config/batchWrite", r#"{"edits":[]}"#, "fs.write_outside");
    check("thread/start", "{}", "fs.read");
    check("thread/start", r#"{"config":{"notify":["x"]}}"#, "fs.write_outside");
    check("thread/resume", r#"{"config":null,"threadId":"t"}"#, "fs.read");
    check(
        "mcpServer/tool/call",
        r#"{"server":"fs","tool":"write_file","arguments":{},"threadId":"t"}"#,
        "mcp.call",
    );
    check("thread/inject_items", r#"{"items":[]}"#, "shell.unknown");
}

#[test]
fn what_is_not_clear_is_not_judged() {
    assert!(of_client("command/exec", &object(r#"{"command":"ls"}"#)).is_err());
    assert!(of_client("fs/writeFile", &object(r#"{"path":"/srv/shop/a"}"#)).is_err());
    assert!(of_server("item/fileChange/requestApproval", &Object::default(), None).is_err());
    assert!(of_server("mcpServer/elicitation/request", &Object::default(), None).is_err());
    for change in [
        r#"{"path":"a\n*** Delete File: b","kind":{"type":"add"},"diff":""}"#,
        r#"{"path":"a ","kind":{"type":"delete"},"diff":""}"#,
        r#"{"path":"a","kind":{"type":"else"},"diff":""}"#,
    ] {
        let item = Json::parse(format!(r#"{{"changes":[{change}]}}"#).as_bytes()).unwrap().into_owned();
        assert!(
            of_server("item/fileChange/requestApproval", &Object::default(), Some(&item)).is_err(),
            "{change}"
        );
    }
    // More than the command itself is asked for.
    for more in [
        r#"{"command":"ls","networkApprovalContext":{"host":"example.org"}}"#,
        r#"{"command":"ls","additionalPermissions":{"network":{"enabled":true}}}"#,
        r#"{"command":"ls","kind":"writeStdin"}"#,
    ] {
        let call = of_server("item/commandExecution/requestApproval", &object(more), None).unwrap();
        assert_eq!(action(&call).kind.as_str(), "shell.unknown", "{more}");
    }
}
