//! Limits of bodies, and queries as documents.

use super::{QueryType, decode, parse, parse_query};
use crate::api::Limits;

const LIMITS: Limits = Limits { bytes_max: 1000, depth_max: 3, keys_max: 2 };

#[test]
fn a_body_is_taken_up_to_its_limits_and_not_beyond() {
    let status = |body: &str| parse(body.as_bytes(), LIMITS).err().map(|problem| problem.status.as_u16());
    assert_eq!(status(""), None);
    assert_eq!(status("[[[1]]]"), None);
    assert_eq!(status("[[[[1]]]]"), Some(413));
    assert_eq!(status(r#"{"a": 1, "b": 2}"#), None);
    assert_eq!(status(r#"{"a": 1, "b": 2, "c": 3}"#), Some(413));
    assert_eq!(status(r#"{"a": 1, "a": 2}"#), Some(400));
    assert_eq!(status("{"), Some(400));
}

#[test]
fn a_query_is_read_by_the_types_of_its_fields() {
    let type_of = |key: &str| match key {
        "limit" => QueryType::Number,
        "follow" => QueryType::Truth,
        _ => QueryType::Text,
    };
    let read = |query: &str| parse_query(query, type_of).ok().map(|json| json.to_canonical());
    assert_eq!(read("limit=7&follow=true&state=7").unwrap(), r#"{"follow":true,"limit":7,"state":"7"}"#);
    assert_eq!(read("limit=x").unwrap(), r#"{"limit":"x"}"#, "the reader says what is wrong with it");
    assert_eq!(read("a=%C3%A9+b").unwrap(), r#"{"a":"é b"}"#);
    assert_eq!(read("a=1&a=2"), None);
    assert_eq!(decode("%ff"), None);
    assert_eq!(decode("%4"), None);
}
