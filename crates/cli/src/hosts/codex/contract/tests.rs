//! Messages against schemas, with a second validator's opinion on each.

use super::Contract;

const REPORT: &str = r##"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,
    "required":["title","findings"],"properties":{"title":{"type":"string","minLength":1,"maxLength":5},
    "findings":{"type":"array","maxItems":2,"items":{"$ref":"#/$defs/finding"}},"score":{"type":["number","null"],"minimum":0,"exclusiveMaximum":10}},
    "$defs":{"finding":{"type":"object","required":["level"],"properties":{"level":{"enum":["low","high"]},"parts":{"type":"array","items":{"$ref":"#/$defs/finding"}}},
    "additionalProperties":{"type":"integer"}}}}"##;

/// Both must say the same.
fn check(schema: &str, message: &str, expected: bool) {
    let problems = Contract::load(schema.as_bytes()).unwrap().problems(Some(message));
    assert_eq!(problems.is_empty(), expected, "{schema} {message}: {problems:?}");
    let oracle = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    assert_eq!(oracle.is_valid(&serde_json::from_str(message).unwrap()), expected, "{schema} {message}");
}

#[test]
fn messages_fit_or_do_not_as_another_validator_says() {
    check(REPORT, r#"{"title":"a","findings":[]}"#, true);
    check(
        REPORT,
        r#"{"title":"ä😀€xy","findings":[{"level":"low","n":1,"parts":[{"level":"high"}]}],"score":9.5}"#,
        true,
    );
    check(REPORT, r#"{"title":"a","findings":[],"score":null}"#, true);
    for message in [
        "1",
        "{}",
        r#"{"title":"","findings":[]}"#,
        r#"{"title":"abcdef","findings":[]}"#,
        r#"{"title":"a","findings":[],"more":1}"#,
        r#"{"title":"a","findings":{}}"#,
        r#"{"title":"a","findings":[{"level":"mid"}]}"#,
        r#"{"title":"a","findings":[{"level":"low","n":1.5}]}"#,
        r#"{"title":"a","findings":[{"level":"low","parts":[{}]}]}"#,
        r#"{"title":"a","findings":[{"level":"low"},{"level":"low"},{"level":"low"}]}"#,
        r#"{"title":"a","findings":[],"score":-1}"#,
        r#"{"title":"a","findings":[],"score":10}"#,
        r#"{"title":"a","findings":[],"score":"1"}"#,
    ] {
        check(REPORT, message, false);
    }
    let choice = r#"{"anyOf":[{"const":1},{"type":"string"}],"not":{"const":"no"}}"#;
    for (message, expected) in
        [("1", true), ("1.0", true), (r#""yes""#, true), (r#""no""#, false), ("2", false)]
    {
        check(choice, message, expected);
    }
    let one = r#"{"oneOf":[{"type":"integer"},{"minimum":5}],"allOf":[{"maximum":9}]}"#;
    for (message, expected) in [("1", true), ("5.5", true), ("7", false), ("4.5", false), ("10", false)] {
        check(one, message, expected);
    }
    check(r#"{"minProperties":1,"maxProperties":1}"#, "{}", false);
    check(r#"{"items":false,"minItems":1}"#, "[]", false);
    check("true", "7", true);
}

#[test]
fn what_is_not_json_or_missing_does_not_fit() {
    let contract = Contract::load(REPORT.as_bytes()).unwrap();
    assert_eq!(contract.problems(None), ["there is no last message"]);
    assert!(contract.problems(Some("not json at all"))[0].starts_with("it is not JSON: "));
    // A key twice: nobody can tell which one a reader takes.
    assert!(
        contract.problems(Some(r#"{"title":"a","title":"b","findings":[]}"#))[0]
            .starts_with("it is not JSON: ")
    );
    let endless = Contract::load(br##"{"$ref":"#"}"##).unwrap();
    assert_eq!(endless.problems(Some("1")), ["at ``: the schema refers to itself without end"]);
}

#[test]
fn a_schema_is_checked_whole_or_refused() {
    for schema in [
        "not json",
        "7",
        r#"{"pattern":"^a"}"#,
        r#"{"properties":{"a":{"if":true}}}"#,
        r#"{"type":"text"}"#,
        r##"{"$ref":"#/$defs/missing"}"##,
        r#"{"$ref":"https://example.org/schema"}"#,
        r#"{"items":[{}]}"#,
        r#"{"anyOf":[]}"#,
        r#"{"minLength":-1}"#,
        r#"{"required":"a"}"#,
    ] {
        assert_eq!(
            Contract::load(schema.as_bytes()).unwrap_err().code.as_str(),
            "WORKER_SCHEMA_INVALID",
            "{schema}"
        );
    }
}
