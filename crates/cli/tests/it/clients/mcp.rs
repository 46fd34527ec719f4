//! `countersign mcp proxy` before the real filesystem server.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    desk::{CLAUDE, Desk, FILESYSTEM_SERVER, PROGRAM, Talk, client},
    model::Model,
};

fn proxied(desk: &Desk, server: &Path) -> Talk {
    let (server, work) = (server.to_str().unwrap(), desk.path("work"));
    let mut talk = desk.talk(&["mcp", "proxy", "--name", "fs", "--", "node", server, work.to_str().unwrap()]);
    let client = json!({"name": "test", "version": "1"});
    let params =
        json!({"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": client});
    let hello = talk.ask(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
    assert!(hello["result"]["serverInfo"].is_object(), "{hello}");
    talk.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
    talk
}

fn write(desk: &Desk, id: Value, name: &str) -> Value {
    let arguments = json!({"path": desk.path(name), "content": "text"});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "write_file", "arguments": arguments}})
}

fn tools(talk: &mut Talk, id: u32) -> Vec<String> {
    let list = talk.ask(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/list", "params": {}}));
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_allowed_call_reaches_the_server_and_its_outcome_is_noted() {
    let Some(server) =
        client("an_allowed_call_reaches_the_server_and_its_outcome_is_noted", FILESYSTEM_SERVER)
    else {
        return;
    };
    let desk = Desk::new();
    desk.countersign(&["init"]);
    let mut talk = proxied(&desk, &server);
    assert!(tools(&mut talk, 1).contains(&"write_file".to_owned()));
    let answer = talk.ask(&write(&desk, json!(2), "work/allowed"));
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    assert_eq!(desk.read("work/allowed").as_deref(), Some("text"));
    // What the server itself refuses has failed.
    let answer = talk.ask(&write(&desk, json!(3), "outside/refused"));
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let events = desk.countersign(&["events", "tail"]);
    for state in ["succeeded", "failed"] {
        assert_eq!(
            events.stdout().matches(&format!("\"state\":\"{state}\"")).count(),
            1,
            "{}",
            events.stdout()
        );
    }
}

#[test]
fn a_denied_write_never_reaches_the_server() {
    let Some(server) = client("a_denied_write_never_reaches_the_server", FILESYSTEM_SERVER) else { return };
    let desk = Desk::new();
    desk.countersign(&["init"]);
    desk.write("work/.countersign/config.yml", "schema: countersign.config.v1\nmode: read_only\n");
    let mut talk = proxied(&desk, &server);
    assert_eq!(tools(&mut talk, 1), Vec::<String>::new());
    let answer = talk.ask(&write(&desk, json!("two"), "work/denied"));
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!("two"), &json!(true)), "{answer}");
    assert_eq!(answer["result"]["_meta"]["countersign/decision_code"], "URM_MODE_DENIED", "{answer}");
    // Nor does it as a message that two parsers could read in two ways, or in a batch.
    let call = write(&desk, json!(3), "work/denied").to_string();
    let twice =
        call.replacen("\"method\":\"tools/call\"", "\"method\":\"ping\",\"method\":\"tools/call\"", 1);
    assert_ne!(twice, call);
    for line in [twice, format!("[{call}]")] {
        talk.say(&line);
        assert!(talk.hear()["error"].is_object(), "{line}");
    }
    let unknown = talk.ask(&json!({"jsonrpc": "2.0", "id": 4, "method": "no/such/method"}));
    assert_eq!(unknown["error"]["code"], -32601, "the server itself answers: {unknown}");
    assert!(!desk.has("work/denied"));
}

/// The server asks for the client's roots under an id of its own, which the client has used too.
#[test]
fn ids_of_the_two_directions_do_not_collide() {
    let Some(server) = client("ids_of_the_two_directions_do_not_collide", FILESYSTEM_SERVER) else { return };
    let desk = Desk::new();
    desk.countersign(&["init"]);
    let mut talk = proxied(&desk, &server);
    let question = talk.hear();
    assert_eq!((&question["method"], &question["id"]), (&json!("roots/list"), &json!(0)), "{question}");
    talk.say(&json!({"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": {}}).to_string());
    talk.say(&json!({"jsonrpc": "2.0", "id": 0, "result": {"roots": []}}).to_string());
    let list = talk.hear();
    assert!(list["result"]["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{list}");
}

#[test]
fn claude_code_works_through_the_proxy() {
    let Some(claude) = client("claude_code_works_through_the_proxy", CLAUDE) else { return };
    let Some(server) = client("claude_code_works_through_the_proxy", FILESYSTEM_SERVER) else { return };
    let desk = Desk::new();
    desk.countersign(&["init"]);
    let arguments = json!(["mcp", "proxy", "--name", "fs", "--", "node", server, desk.path("work")]);
    let config = json!({"mcpServers": {"fs": {"command": PROGRAM, "args": arguments}}});
    desk.write("home/mcp.json", &config.to_string());
    let mcp = desk.path("home/mcp.json");
    let model = Model::start(|_| ());
    let call =
        json!({"tool": "mcp__fs__write_file", "input": {"path": desk.path("work/made"), "content": "text"}});
    let more = ["--mcp-config", mcp.to_str().unwrap(), "--strict-mcp-config"];
    desk.claude(&claude, &model, &json!([call]), &more);
    assert_eq!(desk.read("work/made").as_deref(), Some("text"), "{}", model.heard());
    let events = desk.countersign(&["events", "tail"]);
    assert!(events.stdout().contains("\"action_kind\":\"mcp.call\""), "{}", events.stdout());
}
