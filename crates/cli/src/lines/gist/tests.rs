//! What is seen of lines that nobody can read.

use super::*;

fn check(line: &str, id: Option<&str>, method: Option<&str>) {
    let gist = Gist::of(line.as_bytes());
    assert_eq!((gist.id().map(Id::as_str), gist.method()), (id, method), "{line}");
    // In pieces it is the same.
    let mut pieces = Gist::default();
    line.as_bytes().chunks(3).for_each(|piece| pieces.feed(piece));
    assert_eq!(pieces, gist, "{line}");
}

#[test]
fn an_id_is_found_in_a_line_that_is_refused() {
    let call = Some("tools/call");
    check(r#"{"id":1,"method":"tools/call","params":{"id":2,"a":12345678901234567890}}"#, Some("1"), call);
    check(r#"{"params":{"a":"\ud800\"}"},"method":"tools/call", "id" : "\u0061" }"#, Some("\"a\""), call);
    check(r#"{"id":12345678901234567890,"method":"ping"}"#, Some("12345678901234567890"), Some("ping"));
    check(r#"{"method":"ping","method":"tools/call","id":3}"#, Some("3"), None);
    check(r#"{"i\u0064":4,"x":[{"id":5},"],"]}"#, Some("4"), None);
    check(r#"{"id":6,"method":"tools/call","params":{"name":"#, Some("6"), call);
}

#[test]
fn an_id_that_is_not_clear_is_none() {
    for line in [
        r#"{"id":1,"id":2}"#,
        r#"{"id":1,"ID":1}"#,
        r#"{"Id":1}"#,
        r#"{"id":null}"#,
        r#"{"id":[1]}"#,
        r#"{"id":true}"#,
        r#"{"id":1 2}"#,
        r#"{"id":01}"#,
        r#"{"id":-}"#,
        r#"{"id":1e999}"#,
        // What breaks off may have gone on.
        r#"{"method":null,"id":12"#,
        r#"[{"id":1}]"#,
        r#""id":1"#,
        "",
    ] {
        check(line, None, None);
    }
    let long = "7".repeat(TOKEN_BYTES_MAX + 1);
    check(&format!(r#"{{"id":"{long}"}}"#), None, None);
}

#[test]
fn answers_and_questions_are_told_apart() {
    for (line, is_answer, is_question) in [
        (r#"{"id":1,"result":{}}"#, true, false),
        (r#"{"id":1,"error":{}}"#, true, false),
        (r#"{"id":1,"method":"ping"}"#, false, true),
        (r#"{"method":"note","params":"\ud800"}"#, false, true),
        (r#"{"id":1,"method":"ping","Result":{}}"#, false, false),
        (r#"{"id":1,"method":"ping""#, false, false),
        (r#"{"id":1}"#, false, false),
    ] {
        let gist = Gist::of(line.as_bytes());
        assert_eq!((gist.is_answer(), gist.is_question()), (is_answer, is_question), "{line}");
    }
}

#[test]
fn keys_are_folded_as_widely_as_any_reader_does() {
    for (key, plain) in
        [("Method", "method"), ("PARAM\u{17f}", "params"), ("\u{131}D", "id"), ("\u{212a}", "k")]
    {
        assert_eq!(folded(key), plain);
    }
}
