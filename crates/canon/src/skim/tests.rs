//! A member that is skimmed is the member that is read.

use alloc::string::ToString as _;

use super::*;
use crate::Json;

#[test]
fn every_member_is_found_as_it_is_spelled() {
    let document = Json::object([
        ("", Json::from("empty")),
        ("a", Json::from("\"b\":1,}{][\\")),
        ("b", Json::array(["[", "\\\"", "]"])),
        ("c", Json::object([("b", Json::from("inner")), ("d", Json::object::<&str>([]))])),
        ("d", Json::from(true)),
        ("é\"", Json::from(1_u32)),
        ("z", Json::from("")),
    ]);
    let text = document.to_canonical();
    for member in document.as_object().unwrap().members() {
        let found = member_text(&text, &member.key);
        // A key that needs an escape is not one of ours.
        let wanted = (!member.key.contains('"')).then(|| member.value.to_canonical());
        assert_eq!(found.map(|found| found.to_string()), wanted, "{}", member.key);
    }
    assert_eq!(member_text(&text, "y"), None);
}

#[test]
fn what_is_no_whole_object_has_no_member() {
    for text in ["", "{}", "[1]", "\"a\"", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":\"", "{\"a\" 1}"] {
        assert_eq!(member_text(text, "a"), None, "{text}");
    }
}
