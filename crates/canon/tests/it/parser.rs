//! The parser: positions, limits, and no input that breaks it.

use countersign_canon::{DEPTH_MAX, Json, Pointer, Position};
use proptest::prelude::*;

#[test]
fn nesting_is_allowed_up_to_the_limit_and_not_one_deeper() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(Json::parse(nested(DEPTH_MAX).as_bytes()).is_ok());
    let issue = Json::parse(nested(DEPTH_MAX + 1).as_bytes()).unwrap_err();
    assert_eq!((issue.code.as_str(), issue.offset), ("JSON_TOO_DEEP", Some(DEPTH_MAX)));
    let mixed = "{\"a\":[".repeat(50_000);
    assert_eq!(Json::parse(mixed.as_bytes()).unwrap_err().code.as_str(), "JSON_TOO_DEEP");
}

#[test]
fn a_duplicate_key_is_found_however_it_is_spelt() {
    for text in [r#"{"a":1,"b":2,"a":3}"#, r#"{"a":1,"b":2,"\u0061":3}"#] {
        let issue = Json::parse(text.as_bytes()).unwrap_err();
        assert_eq!((issue.code.as_str(), issue.offset), ("JSON_DUPLICATE_KEY", Some(13)));
    }
    // No normalisation: U+00E9 and e with U+0301 look alike and are two texts.
    assert!(Json::parse(br#"{"\u00e9":1,"e\u0301":2}"#).is_ok());
}

#[test]
fn surrogates_come_in_pairs() {
    assert_eq!(Json::parse(br#""\ud83d\ude00""#).unwrap().as_str(), Some("😀"));
    for text in [r#""\ud83d""#, r#""\ude00""#, r#""\ud83dx""#, r#""\ud83d\u0041""#, r#""\ud83d\ud83d""#] {
        let issue = Json::parse(text.as_bytes()).unwrap_err();
        assert_eq!((issue.code.as_str(), issue.offset), ("JSON_LONE_SURROGATE", Some(1)), "{text}");
    }
}

#[test]
fn values_remember_where_they_stood() {
    let text = b"{\n  \"rules\": [ 1,\n    {\"when\": true} ]\n}";
    let document = Json::parse(text).unwrap();
    let value = Pointer::parse("/rules/1/when").unwrap().find(&document).unwrap().offset();
    assert_eq!(Position::of(text, value).to_string(), "3:14");
}

#[test]
fn a_million_bytes_of_openings_do_not_crash() {
    for opening in ["[", "{\"a\":", "\"", "\\", "-", "[[{\"a\":["] {
        assert!(Json::parse(opening.repeat(200_000).as_bytes()).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _answer = Json::parse(&bytes);
    }

    #[test]
    fn json_like_text_is_refused_at_a_place_inside_it_or_reads_back(
        text in r#"[\[\]{}:,"\\ue0-9.+\-a-f \nNItrulsé😀]{0,40}"#,
    ) {
        match Json::parse(text.as_bytes()) {
            Ok(value) => {
                let canonical = value.to_canonical();
                prop_assert_eq!(Json::parse(canonical.as_bytes()).unwrap().to_canonical(), canonical);
                let pretty = value.to_pretty();
                prop_assert_eq!(Json::parse(pretty.as_bytes()).unwrap(), value);
            }
            Err(issue) => prop_assert!(issue.offset.unwrap() <= text.len()),
        }
    }
}
