//! Lines of `codex exec --json` and the events they become.

use countersign_canon::{Json, Value};

use super::{Ending, Worker};

fn take(worker: &mut Worker, line: &str) -> String {
    let detail = worker.take(line.as_bytes()).without("raw").without("worker");
    Json::from(Value::Object(detail)).to_canonical()
}

#[test]
fn every_line_becomes_one_event() {
    let mut worker = Worker::default();
    let hi = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";
    for (line, event) in [
        (r#"{"type":"thread.started","thread_id":"01a1"}"#, r#"{"line":1,"thread_id":"01a1","type":"thread.started"}"#.to_owned()),
        (r#"{"type":"turn.started"}"#, r#"{"line":2,"type":"turn.started"}"#.to_owned()),
        (
            r#"{"type":"item.completed","item":{"id":"item_0","type":"command_execution","command":"echo hi","aggregated_output":"hi","exit_code":0,"status":"completed","later":1}}"#,
            format!(r#"{{"item":{{"aggregated_output":{{"bytes":2,"sha256":"{hi}"}},"command":"echo hi","exit_code":0,"id":"item_0","status":"completed","type":"command_execution"}},"line":3,"type":"item.completed"}}"#),
        ),
        (
            r#"{"type":"item.started","item":{"id":"item_1","type":"mcp_tool_call","server":"fs","tool":"write_file","arguments":{},"result":null,"error":{"message":"no"},"status":"failed"}}"#,
            r#"{"item":{"arguments":{"bytes":2,"sha256":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"id":"item_1","message":"no","server":"fs","status":"failed","tool":"write_file","type":"mcp_tool_call"},"line":4,"type":"item.started"}"#.to_owned(),
        ),
        (
            r#"{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"hi"}}"#,
            format!(r#"{{"item":{{"id":"item_2","text":{{"bytes":2,"sha256":"{hi}"}},"type":"agent_message"}},"line":5,"type":"item.completed"}}"#),
        ),
        (r#"{"type":"error","message":"Reconnecting"}"#, r#"{"line":6,"message":"Reconnecting","type":"error"}"#.to_owned()),
        ("not json", r#"{"line":7,"type":"unreadable"}"#.to_owned()),
    ] {
        assert_eq!(take(&mut worker, line), event);
    }
    assert_eq!(
        (worker.message.as_deref(), &worker.ending),
        (Some("hi"), &None),
        "an error alone does not end a turn"
    );
    take(&mut worker, r#"{"type":"turn.completed","usage":{"input_tokens":20}}"#);
    assert_eq!(worker.ending, Some(Ending::Completed));
    let failed = take(&mut worker, r#"{"type":"turn.failed","error":{"message":"no key"}}"#);
    assert_eq!(failed, r#"{"line":9,"message":"no key","type":"turn.failed"}"#);
    assert_eq!(worker.ending, Some(Ending::Failed));
}
