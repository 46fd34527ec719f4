//! `countersign mcp proxy` before small servers that are hard to stand before: how lines flow, and which do not.

use serde_json::{Value, json};

use super::desk::Desk;

fn desk() -> Desk {
    let desk = Desk::new();
    desk.countersign(&["init"]);
    desk
}

/// What comes back from a proxy before this server, a line of a shell, for these lines; it must end by itself.
fn said(desk: &Desk, server: &str, lines: &[String]) -> Vec<String> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let arguments = ["mcp", "proxy", "--", "bash", "-c", server];
    let ran = desk.pour(&arguments, input.into_bytes());
    assert_eq!(ran.exit, Some(0), "{} lines came back, {}", ran.stdout().lines().count(), ran.stderr());
    ran.stdout().lines().map(str::to_owned).collect()
}

fn pings(count: usize, bytes: usize) -> Vec<String> {
    let ping = |id| json!({"jsonrpc": "2.0", "id": id, "method": "ping", "params": {"x": "y".repeat(bytes)}});
    (0..count).map(|id| ping(id).to_string()).collect()
}

#[test]
fn lines_that_come_all_at_once_pass_in_order() {
    let desk = desk();
    for (count, bytes) in [(1000, 1000), (400, 5000), (300, 20_000)] {
        let lines = pings(count, bytes);
        assert!(said(&desk, "exec cat", &lines) == lines, "{count} lines of {bytes} bytes");
    }
}

/// The server's words are read while it reads none of the client's, and what it says after the client's end is read too.
#[test]
fn a_server_may_say_much_before_it_reads_and_after_the_end() {
    let desk = desk();
    let lines = pings(1000, 1000);
    let much = "yes 'a note of the server' | head -n 200000";
    let came = said(&desk, &format!("{much}; cat; {much}; echo last"), &lines);
    assert_eq!(came.len(), 401_001);
    assert!(came[200_000..201_000] == lines[..] && came[401_000] == "last");
}

#[test]
fn calls_that_come_all_at_once_are_decided_in_order() {
    let desk = desk();
    let call = |id: usize| {
        let method = if id.is_multiple_of(2) { "tools/call" } else { "ping" };
        let arguments = json!({"x": "y".repeat(5000)});
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {"name": "x", "arguments": arguments}})
            .to_string()
    };
    let lines: Vec<String> = (0..100).map(call).collect();
    assert!(said(&desk, "exec cat", &lines) == lines);
    let events = desk.countersign(&["events", "tail"]);
    assert_eq!(events.stdout().matches("\"action_kind\":\"mcp.call\"").count(), 50);
}

#[test]
fn a_server_that_dies_or_does_not_read_ends_the_proxy() {
    let desk = desk();
    let lines = pings(300, 20_000);
    assert_eq!(said(&desk, "echo gone", &lines), ["gone"]);
    assert_eq!(said(&desk, "exec 0<&-; sleep 1; echo gone", &lines), ["gone"]);
}

const READ_ONLY: &str = "schema: countersign.config.v1\nmode: read_only\n";

fn read_only() -> Desk {
    let desk = desk();
    desk.write("work/.countersign/config.yml", READ_ONLY);
    desk
}

/// A server that waits for a line, says these, and reads the rest.
fn saying(lines: &[&str]) -> String {
    let lines: String =
        lines.iter().map(|line| format!("printf '%b\\n' '{}'; ", line.replace('\\', "\\\\"))).collect();
    format!("read -r first; {lines} cat > /dev/null")
}

fn values(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

#[test]
fn a_refused_line_is_answered_under_its_own_id() {
    let desk = desk();
    let call = |id: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    for (line, id, code) in [
        (call("1", r#"{"name":"x","arguments":{"a":12345678901234567890}}"#), json!(1), "JSON_INTEGER_RANGE"),
        (call("\"b\"", r#"{"name":"x","arguments":{"a":"\ud800"}}"#), json!("b"), "JSON_LONE_SURROGATE"),
        (call("3", r#"{"name":"x","name":"y"}"#), json!(3), "JSON_DUPLICATE_KEY"),
        (call("4", r#"{"name":"x","Name":"y"}"#), json!(4), "HOOK_INPUT"),
        (call("5", r#"{"name":"x","ARGUMENTS":{}}"#), json!(5), "HOOK_INPUT"),
        (call("18446744073709551615", r#"{"name":"x"}"#), json!(u64::MAX), "JSON_INTEGER_RANGE"),
        (call("6", "{\"name\":\"x\",\r\"arguments\":{}}"), json!(6), "HOOK_INPUT"),
    ] {
        let answers = values(&said(&desk, "exec cat", std::slice::from_ref(&line)));
        let [answer] = &answers[..] else { panic!("{line}: {answers:?}") };
        let found = (
            &answer["id"],
            &answer["result"]["isError"],
            &answer["result"]["_meta"]["countersign/decision_code"],
        );
        assert_eq!(found, (&id, &json!(true), &json!(code)), "{answer}");
    }
    for (line, id, code) in [
        (r#"{"id":2,"method":"ping","Method":"tools/call","params":{"name":"drop_db"}}"#, json!(2), -32600),
        (r#"{"id":2,"method":"ping","Param"#, json!(2), -32700),
        (r#"{"id":2,"method":"ping","a":1e999}"#, json!(2), -32700),
        (r#"{"id":[2],"method":"tools/call","params":{"name":"x"}}"#, Value::Null, -32600),
        (r#"[{"id":2,"method":"tools/call","params":{"name":"x"}}]"#, Value::Null, -32600),
        (
            "{\"id\":2,\"x\":\r{\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}\r}",
            json!(2),
            -32600,
        ),
    ] {
        let answers = values(&said(&desk, "exec cat", &[line.to_owned()]));
        let [answer] = &answers[..] else { panic!("{line}: {answers:?}") };
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line}: {answer}");
    }
}

/// The server waits for an answer that cannot be passed on: it gets an error, and the client, who asked nothing, gets nothing.
#[test]
fn a_server_is_told_when_an_answer_to_it_is_refused() {
    let line = r#"{"jsonrpc":"2.0","id":0,"result":{"a":12345678901234567890}}"#.to_owned();
    let came =
        said(&desk(), r#"read -r got; case "$got" in *'"id":0'*'"error"'*) echo told;; esac"#, &[line]);
    assert_eq!(came, ["told"]);
}

#[test]
fn an_id_that_waits_for_its_answer_names_no_other_request() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#.to_owned();
    let answers = values(&said(&desk(), "cat > /dev/null", &[LIST.to_owned(), call.clone(), call]));
    let codes: Vec<_> = answers.iter().map(|answer| (&answer["id"], &answer["error"]["code"])).collect();
    assert_eq!(codes, [(&json!(1), &json!(-32600)); 2]);
}

#[test]
fn a_list_of_tools_is_filtered_or_refused_however_it_is_written() {
    let desk = read_only();
    let tool = r#"{"name":"drop_db","inputSchema":{"maximum":18446744073709551615}}"#;
    for answer in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[TOOL,TOOL],"next":1e400}}"#,
        r#"{"id":1,"result":{"tools":[{"name":"drop_db","x":"\ud800"}]}}"#,
        r#"{"id":1,"method":null,"result":{"tools":[TOOL]}}"#,
        r#"{"id":1,"method":"ping","result":{"tools":[TOOL]}}"#,
        r#"{"id":1,"id":1,"result":{"tools":[TOOL]}}"#,
        r#"{"id":1,"result":{"tools":[],"tools":[TOOL]}}"#,
        r#"{"id":1,"result":{"Tools":[TOOL]}}"#,
        r#"{"id":1,"Result":{"tools":[TOOL]}}"#,
        r#"{"id":1,"result":{"tools":{"a":TOOL}}}"#,
        r#"[{"id":1,"result":{"tools":[TOOL]}}]"#,
        r#"{"result":{"tools":[{"name":"drop_db","x":NaN}]},"id":1}"#,
        "\u{feff}{\"id\":1,\"result\":{\"tools\":[TOOL]}}",
        "{\"a\":\r{\"id\":1,\"result\":{\"tools\":[TOOL]}}\r}",
    ] {
        let answer = answer.replace("TOOL", tool);
        let came = said(&desk, &saying(&[&answer]), &[LIST.to_owned()]);
        let [line] = &came[..] else { panic!("{answer}: {came:?}") };
        assert!(!line.contains("drop_db"), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line.replace("1e400", "0")).unwrap()["id"], 1, "{line}");
    }
    // A client that takes the one id for the other gets a filtered list.
    let answer = format!(r#"{{"id":"1","result":{{"tools":[{tool}]}}}}"#);
    assert_eq!(said(&desk, &saying(&[&answer]), &[LIST.to_owned()]), [r#"{"id":"1","result":{"tools":[]}}"#]);
}

#[test]
fn what_is_no_list_passes_as_it_is_while_one_is_awaited() {
    let desk = read_only();
    let lines = [
        "a note",
        "[INFO] listing",
        r#"{"level":30,"time":18446744073709551615}"#,
        r#"{"id":9,"method":"ping","params":{"a":"\ud800","a":1}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{"a":18446744073709551615}}"#,
        r#"{"id":1,"error":{"code":-1,"message":"\ud800"}}"#,
        // Nothing is awaited any more.
        r#"{"id":3,"result":{"a":1,"a":2}}"#,
    ];
    assert_eq!(said(&desk, &saying(&lines), &[LIST.to_owned()]), lines);
    // A list of which nothing is taken out passes byte for byte.
    desk.write("work/.countersign/config.yml", "schema: countersign.config.v1\nmode: writes_allowed\n");
    let list =
        r#"{"id":1, "result":{"tools":[ {"name":"x","inputSchema":{"maximum":18446744073709551615}} ]}}"#;
    assert_eq!(said(&desk, &saying(&[list]), &[LIST.to_owned()]), [list]);
}

#[test]
fn an_outcome_is_noted_whatever_numbers_it_has() {
    let desk = desk();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"a":18446744073709551615}}}"#;
    assert_eq!(said(&desk, &saying(&[answer]), &[call.to_owned()]), [answer]);
    let events = desk.countersign(&["events", "tail"]);
    assert_eq!(events.stdout().matches("\"state\":\"succeeded\"").count(), 1, "{}", events.stdout());
}
