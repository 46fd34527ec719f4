//! Documents as types: all problems at once, in document order, and a schema that says the same.

use std::collections::BTreeMap;

use countersign_canon::{
    Alphabet, Code, Json, List, NonEmpty, Reader, RepoPath, Sha256, Shape, Text, Timestamp, Wire, Within,
    checked_name, choice, record, schema_document,
};

const HAT_INVALID: Code = Code::new("HAT_INVALID");

checked_name! {
    /// The name of a hat.
    pub HatName, "hat name",
    Shape { prefix: "hat_", first: None, rest: Alphabet("a-z"), rest_min: 1, rest_max: Some(8) }
}

choice! {
    /// How big it is.
    pub enum Size {
        /// Not big.
        Small = "small",
        /// Big.
        Large = "large",
    }
}

record! {
    /// A hat.
    pub struct Hat {
        /// Its name.
        name: HatName,
        /// What it is.
        kind = "type": Text<1, 8>,
        /// How big it is.
        size: Size,
        /// When it was made.
        made_at: Option<Timestamp>,
        /// What it costs.
        price: Within<0, 100>,
        /// Where it hangs.
        places: List<RepoPath, 0, 2>,
        /// What stands on it.
        marks: NonEmpty<Sha256>,
        /// Hats it goes with.
        goes_with: BTreeMap<HatName, bool>,
    }
}

fn good() -> String {
    let mark = "0".repeat(64);
    format!(
        r#"{{"name": "hat_a", "type": "cap", "size": "small", "made_at": "2026-01-01T00:00:00Z", "price": 1.0,
            "places": ["./a/b"], "marks": ["{mark}"], "goes_with": {{"hat_b": true}}}}"#
    )
}

/// Every problem of a document as `cause pointer`, in order; empty if it is accepted.
fn problems(text: &str) -> Vec<String> {
    match Reader::read_document::<Hat>(text.as_bytes(), HAT_INVALID) {
        Ok(_) => Vec::new(),
        Err(issues) => issues
            .iter()
            .map(|issue| {
                assert_eq!(issue.code, HAT_INVALID);
                format!("{} {}", issue.cause.unwrap(), issue.pointer)
            })
            .collect(),
    }
}

#[test]
fn a_good_document_reads_and_writes_back_normalised() {
    let hat: Hat = Reader::read_document(good().as_bytes(), HAT_INVALID).unwrap();
    let expected = good().replace("./a/b", "a/b");
    assert_eq!(hat.write(), Json::parse(expected.as_bytes()).unwrap());
}

#[test]
fn all_problems_are_reported_in_document_order() {
    let bad = r#"{"price": 101, "nam": "hat_a", "type": "", "size": "lage", "made_at": null,
                  "places": ["/x", "y", "z"], "marks": [], "goes_with": {"cap": 1}}"#;
    assert_eq!(
        problems(bad),
        [
            "WIRE_MISSING_FIELD ",
            "WIRE_BOUNDS /price",
            "WIRE_UNKNOWN_FIELD /nam",
            "WIRE_BOUNDS /type",
            "WIRE_VALUE /size",
            "WIRE_TYPE /made_at",
            "WIRE_BOUNDS /places",
            "PATH_SHAPE /places/0",
            "WIRE_BOUNDS /marks",
            "NAME_SHAPE /goes_with/cap",
            "WIRE_TYPE /goes_with/cap",
        ]
    );
}

#[test]
fn a_parser_refusal_is_the_cause_of_the_documents() {
    assert_eq!(problems("{"), ["JSON_UNEXPECTED_END "]);
}

#[test]
fn a_slip_gets_a_suggestion() {
    let issues = Reader::read_document::<Hat>(br#"{"nam": 1, "size": "lage"}"#, HAT_INVALID).unwrap_err();
    let hints: Vec<_> = issues.iter().filter_map(|issue| issue.hint.as_deref()).collect();
    assert_eq!(hints, ["did you mean `name`?", "did you mean `large`?"]);
}

/// Each change to the good document is judged by the reader and by an independent schema validator.
#[test]
fn the_schema_says_what_the_reader_says() {
    let schema = schema_document::<Hat>("hat", "A hat").to_canonical();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let verdicts = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        (problems(text).is_empty(), validator.is_valid(&value))
    };
    assert_eq!(verdicts(&good()), (true, true));
    for (from, to) in [
        ("hat_a", "hat_"),
        ("hat_a", "hat_abcdefghi"),
        ("hat_a", "hat_A"),
        ("\"cap\"", "\"\""),
        ("\"cap\"", "1"),
        ("\"cap\"", "\"123456789\""),
        ("small", "Small"),
        ("2026-01-01T", "2026-01-32T"),
        ("00:00Z", "00:00"),
        ("1.0", "1.5"),
        ("1.0", "-1"),
        ("1.0", "101"),
        ("1.0", "\"1\""),
        ("./a/b", "/a/b"),
        ("./a/b", "a/../b"),
        ("./a/b", ".."),
        ("./a/b", ""),
        ("./a/b", "a\\\\b"),
        ("[\"./a/b\"]", "[\"a\",\"b\",\"c\"]"),
        ("000", "00"),
        ("000\"", "00F\""),
        ("hat_b", "b"),
        ("true", "null"),
        ("\"name\"", "\"nam\""),
    ] {
        assert_eq!(verdicts(&good().replacen(from, to, 1)), (false, false), "{from} -> {to}");
    }
    for (from, to) in
        [("./a/b", "..a/b..c/..."), ("./a/b", "é"), ("1.0", "100"), ("\"cap\"", "\"😀😀😀😀😀😀😀😀\"")]
    {
        assert_eq!(verdicts(&good().replacen(from, to, 1)), (true, true), "{from} -> {to}");
    }
}
