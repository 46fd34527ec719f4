//! The model as its hosts meet it.

use countersign_canon::Json;

use super::{Canary, answer, prompt};

fn canaries() -> Vec<Canary> {
    let canary = |id: &str, group: Option<&str>, after: Option<&str>| Canary {
        id: id.to_owned(),
        tool: (group.map(str::to_owned), "tool".to_owned()),
        input: Json::object([("text", Json::from("[]]"))]),
        after: after.map(str::to_owned),
    };
    vec![canary("one", None, None), canary("two", Some("group"), Some("heard"))]
}

fn quoted(text: &str) -> String {
    Json::from(text.to_owned()).to_canonical()
}

#[test]
fn calls_are_asked_for_one_after_the_other_and_then_it_is_done() {
    let said = quoted(&format!("{}\n<more>[text]</more>", prompt(&canaries())));
    let result = r#"{"role":"user","content":[{"type":"tool_result"}]}"#;
    let asked = |results: usize| {
        let messages = vec![result; results].join(",");
        let comma = if results == 0 { "" } else { "," };
        let body = format!(r#"{{"messages":[{{"role":"user","content":{said}}}{comma}{messages}]}}"#);
        answer("/v1/messages?beta=true", body.as_bytes())
    };
    let first = asked(0);
    assert!(first.text.contains("toolu_one") && first.after.is_none(), "{}", first.text);
    let second = asked(1);
    assert!(second.text.contains("toolu_two") && second.after.as_deref() == Some("heard"), "{}", second.text);
    assert!(asked(2).text.contains("end_turn"));
}

#[test]
fn the_other_protocol_is_spoken_too() {
    let said = quoted(&prompt(&canaries()));
    let output = r#"{"type":"function_call_output"}"#;
    let asked = |more: &str| {
        let item = format!(r#"{{"type":"message","role":"user","content":[{{"text":{said}}}]}}"#);
        answer("/v1/responses", format!(r#"{{"input":[{item}{more}]}}"#).as_bytes()).text
    };
    assert!(asked("").contains("call_one"));
    assert!(asked(&format!(",{output}")).contains(r#""namespace":"group""#));
    assert!(asked(&format!(",{output},{output}")).contains(r#""text":"done""#));
}

#[test]
fn whatever_comes_there_is_an_answer() {
    for (path, body) in [("/", ""), ("/v1/messages", "{"), ("/v1/responses", "[]"), ("", "\u{0}")] {
        assert!(!answer(path, body.as_bytes()).text.is_empty(), "{path}");
    }
}
