//! `countersign canon`: canonical bytes, hashes, and every class of bad input with its code and place.

use crate::support::Sandbox;

#[test]
fn prints_exactly_the_canonical_bytes() {
    let sandbox = Sandbox::new();
    sandbox.write("in.json", "{ \"b\": 1.0, \"a\": \"\\u00e9\" }\n");
    assert_eq!(
        sandbox.run(&["canon", "in.json"]).screen(),
        "exit 0\n--- stdout\n{\"a\":\"é\",\"b\":1}--- stderr\n"
    );
}

#[test]
fn reads_standard_input() {
    assert_eq!(Sandbox::new().run_with_input(&["canon", "-"], b" [ ] ").stdout(), "[]");
}

#[test]
fn the_hash_is_of_the_canonical_bytes() {
    let sandbox = Sandbox::new();
    sandbox.write("spaced.json", "{ \"b\": 1, \"a\": 2 }").write("tight.json", "{\"a\":2,\"b\":1}");
    let hash = "d3626ac30a87e6f7a6428233b3c68299976865fa5508e4267c5415c76af7a772\n";
    assert_eq!(sandbox.run(&["canon", "--sha256", "spaced.json"]).stdout(), hash);
    assert_eq!(sandbox.run(&["canon", "--sha256", "tight.json"]).stdout(), hash);
}

/// The refusal of one input: exit code, code and place, for each class of bad input.
#[track_caller]
fn refused(input: &[u8], code: &str, position: &str) {
    let ran = Sandbox::new().run_with_input(&["canon", "-"], input);
    let stderr = ran.stderr();
    assert_eq!(ran.exit, Some(1), "{stderr}");
    assert_eq!(ran.stdout(), "");
    assert!(stderr.starts_with(&format!("error[{code}]")), "{stderr}");
    assert!(stderr.contains(&format!("--> <stdin>:{position}\n")), "{stderr}");
}

#[test]
fn every_class_of_bad_input_has_its_code_and_place() {
    refused(b"{\n \"a\": 1,\n \"\\u0061\": 2}", "JSON_DUPLICATE_KEY", "3:2");
    refused(b"[NaN]", "JSON_NOT_A_NUMBER", "1:2");
    refused(b"[-Infinity]", "JSON_NOT_A_NUMBER", "1:2");
    refused(b"[\"\\ud800\"]", "JSON_LONE_SURROGATE", "1:3");
    refused(b"9007199254740992", "JSON_INTEGER_RANGE", "1:1");
    refused(b"[1, 9007199254740992.0]", "JSON_NUMBER_AMBIGUOUS", "1:5");
    refused(b"1e999", "JSON_NUMBER_OVERFLOW", "1:1");
    refused(b"1e-999", "JSON_NUMBER_UNDERFLOW", "1:1");
    refused("[".repeat(129).as_bytes(), "JSON_TOO_DEEP", "1:129");
    refused("[".repeat(100_000).as_bytes(), "JSON_TOO_DEEP", "1:129");
    refused(b"\xef\xbb\xbf{}", "JSON_BOM", "1:1");
    refused(b"{} {}", "JSON_TRAILING_DATA", "1:4");
    refused(b"\"\xff\"", "JSON_BAD_UTF8", "1:2");
    refused(b"{\"a\":01}", "JSON_SYNTAX", "1:7");
    refused(b"{'a':1}", "JSON_SYNTAX", "1:2");
    refused(b"[1,]", "JSON_SYNTAX", "1:4");
    refused(b"\"a\nb\"", "JSON_SYNTAX", "1:3");
    refused(b"", "JSON_UNEXPECTED_END", "1:1");
    refused(b"{\"a\"", "JSON_UNEXPECTED_END", "1:5");
}

#[test]
fn a_refusal_reads_well() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.json", "{\n  \"a\": 1,\n  \"a\": 2\n}\n");
    insta::assert_snapshot!(sandbox.run(&["canon", "bad.json"]).screen(), @r#"
    exit 1
    --- stdout
    --- stderr
    error[JSON_DUPLICATE_KEY]: the key `a` is there already
      --> bad.json:3:3
      expected: every key once
      hint: remove one of the two; readers differ in which one they believe
    "#);
}

#[test]
fn a_refusal_can_be_read_by_a_machine() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.json", "[1");
    insta::assert_snapshot!(sandbox.run(&["canon", "bad.json", "--errors", "json"]).screen(), @r#"
    exit 1
    --- stdout
    --- stderr
    {"file":"bad.json","issues":[{"code":"JSON_UNEXPECTED_END","expected":"`,` or `]`","message":"found the end of the text","place":"bad.json:1:3","pointer":""}]}
    "#);
}

#[test]
fn a_missing_file_is_exit_2_with_a_hint() {
    insta::assert_snapshot!(Sandbox::new().run(&["canon", "nowhere.json"]).screen(), @r#"
    exit 2
    --- stdout
    --- stderr
    error[CLI_READ_FAILED]: `nowhere.json` could not be read: No such file or directory (os error 2)
      hint: check the path; `-` reads standard input
    "#);
}
