//! `countersign mcp proxy` before the real filesystem server, and `countersign mcp serve` behind a real client.

use std::path::Path;

use serde_json::{Value, json};

use super::{
    desk::{CLAUDE, Desk, FILESYSTEM_SERVER, MCP_SDK, PROGRAM, Talk, client},
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

/// Calls tools of `countersign mcp serve` with the client of the protocol's own SDK.
const SDK_CLIENT: &str = r#"
const [sdk, program, calls] = process.argv.slice(2);
const { Client } = await import(`${sdk}/client/index.js`);
const { StdioClientTransport } = await import(`${sdk}/client/stdio.js`);
const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: program, args: ["mcp", "serve"], env: process.env }));
const said = [(await client.listTools()).tools.map((tool) => tool.name)];
for (const call of JSON.parse(calls)) said.push(await client.callTool(call));
console.log(JSON.stringify(said));
await client.close();
"#;

#[test]
fn the_kernel_serves_a_real_client() {
    let Some(sdk) = client("the_kernel_serves_a_real_client", MCP_SDK) else { return };
    let desk = Desk::new();
    desk.countersign(&["init"]);
    desk.write("home/client.mjs", SDK_CLIENT);
    let intent = |name: &str| -> Value {
        let path = format!("examples/intents/evaluations/conflict_effect/{name}.json");
        serde_json::from_str(&crate::support::shipped_text(&path)).unwrap()
    };
    let intents: Vec<String> = crate::support::shipped_under("examples/intents/evaluations/conflict_effect")
        .iter()
        .filter_map(|path| path.rsplit('/').next().unwrap().strip_suffix(".json"))
        .filter(|name| name.starts_with("intent_") && !name.starts_with("intent_set"))
        .map(str::to_owned)
        .collect();
    let bash = |line: &str| json!({"tool": "Bash", "input": {"command": line}});
    let mut calls = vec![
        json!({"name": "ask", "arguments": bash("ls")}),
        json!({"name": "ask", "arguments": bash("eval x")}),
        json!({"name": "ask", "arguments": bash("git push origin main")}),
        json!({"name": "request_approval", "arguments": bash("git push origin main")}),
        json!({"name": "policy_view", "arguments": {}}),
        json!({"name": "ask", "arguments": {"tool": "Bash"}}),
        json!({"name": "no_such_tool", "arguments": {}}),
    ];
    calls.extend(
        intents.iter().map(|name| json!({"name": "publish_intent", "arguments": {"intent": intent(name)}})),
    );
    calls.push(json!({"name": "check_conflicts", "arguments": {}}));
    let script = desk.path("home/client.mjs");
    let calls = Value::from(calls).to_string();
    let arguments = [script.to_str().unwrap(), sdk.to_str().unwrap(), PROGRAM, &calls];
    let ran = desk.run(Path::new("node"), &arguments, &[]);
    let said: Vec<Value> = serde_json::from_str(ran.stdout()).unwrap_or_else(|_| panic!("{}", ran.screen()));
    let tools = json!(["ask", "request_approval", "publish_intent", "check_conflicts", "policy_view"]);
    assert_eq!(said[0], tools);
    let text = |index: usize| said[index]["content"][0]["text"].as_str().unwrap().to_owned();
    for (index, outcome) in [(1, "\"allowed\""), (2, "\"denied\""), (3, "\"approval_required\"")] {
        assert!(text(index).contains(outcome), "{}", text(index));
    }
    assert!(
        text(4).contains("URM_APPROVAL_REQUIRED") && text(4).contains("countersign approve apr_"),
        "{}",
        text(4)
    );
    assert!(text(5).contains("deny.unknown_shell"), "{}", text(5));
    assert!([6, 7].iter().all(|index| said[*index]["isError"] == true), "{said:?}");
    let conflicts: Value = serde_json::from_str(&text(said.len() - 1)).unwrap();
    assert_eq!(conflicts["intents"].as_array().unwrap().len(), intents.len(), "{conflicts}");
    assert!(!conflicts["conflicts"].as_array().unwrap().is_empty(), "{conflicts}");
    let pending = desk.countersign(&["pending", "--format", "json"]);
    assert!(pending.stdout().contains("git.push"), "{}", pending.screen());
}
