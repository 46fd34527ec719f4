//! Which lines are one message to everybody.

use super::*;

fn refused(line: &str) -> bool {
    let is_refused = read(line.as_bytes()).is_err();
    if let Err(issue) = read(line.as_bytes()) {
        assert!(issue.expected.is_some() && issue.offset.is_some(), "{line}: {issue:?}");
    }
    is_refused
}

#[test]
fn members_that_differ_in_case_alone_are_refused() {
    for key in ["Method", "METHOD", "Params", "Id", "JSONRPC", "param\u{17f}", "\u{131}d", "Result"] {
        let line = format!(r#"{{"id":2,"method":"ping","{key}":"tools/call"}}"#);
        assert!(refused(&line), "{line}");
        assert!(read_nearly(line.as_bytes()).is_err(), "{line}");
    }
    assert!(!refused(r#"{"id":2,"method":"ping","params":{"Method":"x"},"methods":1}"#));
    let call = Json::parse(br#"{"name":"ok","Name":"other"}"#).unwrap();
    let issue = check_case(call.as_object().unwrap(), &["name", "arguments"]).unwrap_err();
    assert_eq!((issue.code, issue.offset), (codes::HOOK_INPUT, Some(13)));
}

#[test]
fn a_carriage_return_within_a_line_is_refused() {
    assert!(refused("{\"id\":1,\"x\":\r{\"id\":2,\"method\":\"tools/call\"}\r}"));
    assert!(!refused(r#"{"id":1,"x":"\r"}"#));
}

#[test]
fn a_server_s_line_is_read_whatever_its_numbers_are() {
    let read = read_nearly(br#"{"id":18446744073709551615,"result":{"a":1e999,"b":"\ud800"}}"#).unwrap();
    assert_eq!(read.id.as_ref().map(Id::as_str), Some("18446744073709551615"));
    assert_eq!(read.json.get("result").unwrap().to_canonical(), "{\"a\":0,\"b\":\"\u{fffd}\"}");
    for line in [r#"{"id":1,"id":2}"#, "[]", "a note", r#"{"id":1,"result":{"Tools":[]}}"#] {
        assert!(read_nearly(line.as_bytes()).is_err(), "{line}");
    }
}

#[test]
fn what_starts_as_a_message_is_perhaps_one() {
    for line in ["{", " {\"a\"", "\u{feff}{}", "[{}]", "[ {"] {
        assert!(is_perhaps(line.as_bytes()), "{line}");
    }
    for line in ["a note", "[INFO] x", "", "1", "\"{\""] {
        assert!(!is_perhaps(line.as_bytes()), "{line}");
    }
}
