//! What is nearly JSON is read, and cut, without anything else being touched.

use proptest::prelude::*;

use super::*;

fn read(line: &str) -> String {
    let text = readable(line.as_bytes());
    assert_eq!(text.len(), line.len(), "{line}");
    String::from_utf8(text).unwrap()
}

#[test]
fn numbers_and_halves_of_pairs_have_stand_ins_of_their_length() {
    for (line, text) in [
        (r#"{"a":18446744073709551615,"b":-9e999}"#, r#"{"a":0                   ,"b":0     }"#),
        (
            r#"["\ud800","\udc00x","\ud83d\ude00","\\ud800"]"#,
            r#"["\ufffd","\ufffdx","\ud83d\ude00","\\ud800"]"#,
        ),
        (r#"["\ud800\ud83d\ude00"]"#, r#"["\ufffd\ud83d\ude00"]"#),
        (r#"["18446744073709551615",1.5,-0]"#, r#"["18446744073709551615",1.5,-0]"#),
        // What is not JSON for another reason stays what it is.
        (r#"{"a":01,"b":1-2,"c":-"#, r#"{"a":01,"b":1-2,"c":-"#),
        (r#"["a\"#, r#"["a\"#),
    ] {
        assert_eq!(read(line), text, "{line}");
    }
}

#[test]
fn what_is_cut_out_takes_its_comma_along() {
    let line = r#"{"x":18446744073709551615 ,"t": [ {"n":1,"a":"]}\"\ud800"} , [2],3 ,"," ],"y":1}"#;
    let text = readable(line.as_bytes());
    let json = Json::parse(&text).unwrap();
    let all = json.get("t").unwrap().as_array().unwrap();
    let cut = |out: &[usize]| {
        let is_out = |element: &Json<'_>| out.iter().any(|index| std::ptr::eq(element, &all[*index]));
        without(line.as_bytes(), &text, all, &is_out).unwrap()
    };
    let (before, after) = (r#"{"x":18446744073709551615 ,"t": [ "#, r#" ],"y":1}"#);
    for (out, kept) in [
        (&[][..], r#"{"n":1,"a":"]}\"\ud800"},[2],3,",""#),
        (&[0], r#"[2],3,",""#),
        (&[3], r#"{"n":1,"a":"]}\"\ud800"},[2],3"#),
        (&[1, 2], r#"{"n":1,"a":"]}\"\ud800"},",""#),
        (&[0, 1, 2, 3], ""),
    ] {
        assert_eq!(cut(out), format!("{before}{kept}{after}"));
    }
}

proptest! {
    #[test]
    fn json_stays_as_it_is(text in r#"\[("[a-z\\"u0-9]{0,8}"|-?[0-9]{1,9}|\{\}|,| ){0,9}\]"#) {
        if Json::parse(text.as_bytes()).is_ok() {
            prop_assert_eq!(read(&text), text);
        }
    }

    #[test]
    fn nothing_breaks_it(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        prop_assert_eq!(readable(&bytes).len(), bytes.len());
        let _ = value_length(&bytes);
    }
}
