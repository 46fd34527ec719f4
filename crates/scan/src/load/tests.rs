//! What a bundle may be, and every problem of one that may not.

use alloc::{format, string::String, vec::Vec};

use super::*;

fn rule(id: &str, key: &str, extra: &str) -> String {
    format!(
        r#"{{"id": "{id}", "title": "t", "enforcement": {{"mode": "fail"}},
            "match": {{"files": ["**"], "{key}": ["p"]}}{extra}}}"#
    )
}

fn boundaries(rows: &[String]) -> String {
    format!(r#"{{"boundaries": [{}]}}"#, rows.join(","))
}

/// The single place that loads: the three files, and what comes out as `file code/cause pointer` lines.
fn load(boundaries: &str, invariants: &str, deprecated: &str) -> Result<Bundle, Vec<String>> {
    let parse = |text: &str| (!text.is_empty()).then(|| Json::parse(text.as_bytes()).unwrap().into_owned());
    let files = RuleFiles {
        boundaries: parse(boundaries),
        invariants: parse(invariants),
        deprecated: parse(deprecated),
    };
    Bundle::load(&files).map_err(|issues| {
        let lines = issues.iter().map(|FileIssue { file, issue }| {
            let file = file.map_or("bundle", RuleFileName::as_str);
            format!("{file} {} {}", issue.cause.unwrap_or(issue.code), issue.pointer)
        });
        lines.collect()
    })
}

#[track_caller]
fn check(boundaries: &str, invariants: &str, deprecated: &str, expected: &[&str]) {
    assert_eq!(load(boundaries, invariants, deprecated).err().unwrap_or_default(), expected);
}

#[test]
fn boundaries_come_before_invariants_and_deprecated_rules_only_count() {
    let bundle = load(
        &boundaries(&[rule("b", "forbidden_patterns", ""), rule("a", "forbidden_patterns", "")]),
        &format!(r#"{{"invariants": [{}]}}"#, rule("i", "required_absent", "")),
        &format!(
            r#"{{"deprecated": [{}, {}]}}"#,
            rule("d", "required_absent", ""),
            rule("e", "forbidden_patterns", "")
        ),
    )
    .unwrap();
    let ids: Vec<_> = bundle.rules().iter().map(|rule| (rule.id.as_str(), rule.rule_type)).collect();
    assert_eq!(ids, [("b", RuleType::Boundary), ("a", RuleType::Boundary), ("i", RuleType::Invariant)]);
    assert_eq!(bundle.deprecated_ignored(), 2);
    assert_eq!(bundle.patterns().len(), 1);
}

#[test]
fn a_bundle_that_enforces_nothing_is_an_error() {
    check("", "", "", &["bundle SCAN_RULES_MISSING "]);
    check("", "", r#"{"deprecated": []}"#, &["bundle SCAN_RULES_MISSING "]);
    check(r#"{"boundaries": []}"#, "", "", &["boundaries.yml WIRE_BOUNDS /boundaries"]);
    check("null", "", "", &["boundaries.yml WIRE_TYPE "]);
    check(r#"{"boundaries": null}"#, "", "", &["boundaries.yml WIRE_TYPE /boundaries"]);
}

#[test]
fn every_problem_is_reported() {
    let bad = r#"{"boundaries": [{
        "id": "a b", "title": "", "enforcement": {"mode": "warn"}, "severity": "low",
        "match": {"files": ["./x", "a**"], "forbidden_patterns": [""], "forbiden": []}
    }, {"id": "c"}]}"#;
    let invariants = format!(r#"{{"invariants": [{}]}}"#, rule("c", "forbidden_patterns", ""));
    check(
        bad,
        &invariants,
        "",
        &[
            "boundaries.yml NAME_SHAPE /boundaries/0/id",
            "boundaries.yml WIRE_BOUNDS /boundaries/0/title",
            "boundaries.yml WIRE_VALUE /boundaries/0/enforcement/mode",
            "boundaries.yml WIRE_UNKNOWN_FIELD /boundaries/0/severity",
            "boundaries.yml SCAN_GLOB_NEVER_MATCHES /boundaries/0/match/files/0",
            "boundaries.yml SCAN_GLOB_SYNTAX /boundaries/0/match/files/1",
            "boundaries.yml SCAN_PATTERN_EMPTY /boundaries/0/match/forbidden_patterns/0",
            "boundaries.yml WIRE_UNKNOWN_FIELD /boundaries/0/match/forbiden",
            "boundaries.yml WIRE_MISSING_FIELD /boundaries/1",
            "boundaries.yml WIRE_MISSING_FIELD /boundaries/1",
            "boundaries.yml WIRE_MISSING_FIELD /boundaries/1",
            "invariants.yml WIRE_MISSING_FIELD /invariants/0/match",
            "invariants.yml WIRE_UNKNOWN_FIELD /invariants/0/match/forbidden_patterns",
            "invariants.yml SCAN_RULE_ID_REPEATED /invariants/0/id",
        ],
    );
}

#[test]
fn empty_lists_are_refused() {
    let empty = r#"{"boundaries": [{"id": "a", "title": "t", "enforcement": {"mode": "fail"},
        "match": {"files": [], "forbidden_patterns": []}}]}"#;
    let expected = [
        "boundaries.yml WIRE_BOUNDS /boundaries/0/match/files",
        "boundaries.yml WIRE_BOUNDS /boundaries/0/match/forbidden_patterns",
    ];
    check(empty, "", "", &expected);
}

#[test]
fn ids_are_unique_in_the_whole_bundle() {
    let one = rule("x", "forbidden_patterns", "");
    let deprecated = format!(r#"{{"deprecated": [{}]}}"#, rule("x", "required_absent", ""));
    check(
        &boundaries(&[one.clone(), one]),
        "",
        &deprecated,
        &[
            "boundaries.yml SCAN_RULE_ID_REPEATED /boundaries/1/id",
            "deprecated.yml SCAN_RULE_ID_REPEATED /deprecated/0/id",
        ],
    );
}

#[test]
fn a_malformed_deprecated_file_is_still_an_error() {
    let both = r#"{"deprecated": [{"id": "d", "title": "t", "enforcement": {"mode": "fail"},
        "match": {"files": ["**"], "forbidden_patterns": ["a"], "required_absent": ["b"]}}]}"#;
    let one = boundaries(&[rule("x", "forbidden_patterns", "")]);
    check(&one, "", both, &["deprecated.yml SCAN_RULE_KIND /deprecated/0/match"]);
    check(&one, "", r#"{"deprecated": 1}"#, &["deprecated.yml WIRE_TYPE /deprecated"]);
}

#[test]
fn there_are_at_most_ten_thousand_rules() {
    let rows: Vec<String> =
        (0..=RULES_MAX).map(|number| rule(&format!("r{number}"), "forbidden_patterns", "")).collect();
    assert_eq!(load(&boundaries(&rows[1..]), "", "").unwrap().rules().len(), RULES_MAX);
    check(
        &boundaries(&rows),
        "",
        "",
        &["boundaries.yml WIRE_BOUNDS /boundaries", "bundle SCAN_RULES_TOO_MANY "],
    );
}

#[test]
fn the_hash_is_of_what_the_rules_say() {
    let one = boundaries(&[rule("x", "forbidden_patterns", "")]);
    let spaced = one.replace(", ", " ,\n ");
    let other = boundaries(&[rule("x", "forbidden_patterns", r#", "owner": "me""#)]);
    let hash = |text: &str| *load(text, "", "").unwrap().hash();
    assert_eq!(hash(&one), hash(&spaced));
    assert_ne!(hash(&one), hash(&other));
}

#[test]
fn a_rule_that_repeats_itself_says_it_once() {
    let one = r#"{"boundaries": [{"id": "a", "title": "t", "enforcement": {"mode": "fail"},
        "match": {"files": ["**", "**"], "forbidden_patterns": ["b", "a", "b"]}}]}"#;
    let bundle = load(one, "", "").unwrap();
    assert_eq!((&bundle.rules()[0].globs[..], &bundle.rules()[0].patterns[..]), (&[0][..], &[0, 1][..]));
}
