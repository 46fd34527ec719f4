//! Rule bundles that are refused: every problem with its file, line and column, and exit 2, never a pass.

use crate::{
    scan::one_rule,
    support::{Sandbox, is_soak, shipped_text, shipped_under},
};

/// Runs a scan with this boundaries.yml and says what was shown as `place cause`.
fn refused(boundaries: impl AsRef<[u8]>) -> Vec<String> {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", boundaries).write("main.tf", "x");
    let ran = sandbox.run(&["scan"]);
    assert_eq!((ran.exit, ran.stdout()), (Some(2), ""), "{}", ran.screen());
    let mut shown: Vec<String> = Vec::new();
    for line in ran.stderr().lines() {
        if let Some(place) = line.strip_prefix("  --> ") {
            shown.push(place.split(" at ").next().unwrap().to_owned());
        } else if let (Some(cause), Some(last)) = (line.strip_prefix("  cause: "), shown.last_mut()) {
            last.push_str(&format!(" {cause}"));
        }
    }
    shown
}

#[track_caller]
fn check(boundaries: impl AsRef<[u8]>, expected: &[&str]) {
    assert_eq!(refused(boundaries), expected);
}

#[test]
fn a_mode_other_than_fail_is_refused() {
    let warn = one_rule("['**']", "[x]").replace("mode: fail", "mode: warn");
    check(&warn, &["rules/boundaries.yml:4:25 WIRE_VALUE"]);
}

#[test]
fn unknown_fields_are_refused() {
    let misspelt = one_rule("['**']", "[x]").replace("forbidden_patterns", "forbiden_patterns");
    check(
        &misspelt,
        &["rules/boundaries.yml:6:7 WIRE_MISSING_FIELD", "rules/boundaries.yml:7:7 WIRE_UNKNOWN_FIELD"],
    );
    check(
        one_rule("['**']", "[x]") + "    severity: low\n",
        &["rules/boundaries.yml:8:5 WIRE_UNKNOWN_FIELD"],
    );
}

#[test]
fn empty_lists_and_patterns_and_wrong_types_are_refused() {
    check(
        one_rule("[]", "['']"),
        &["rules/boundaries.yml:6:14 WIRE_BOUNDS", "rules/boundaries.yml:7:28 SCAN_PATTERN_EMPTY"],
    );
    check(one_rule("['**']", "[22]"), &["rules/boundaries.yml:7:28 YAML_NOT_TEXT"]);
    check(one_rule("['**']", "[~]"), &["rules/boundaries.yml:7:28 WIRE_TYPE"]);
    check(
        one_rule("['**']", "[privileged: true]"),
        &["rules/boundaries.yml:7:28 WIRE_TYPE", "rules/boundaries.yml:7:40 YAML_NOT_TEXT"],
    );
    check(one_rule("'**'", "[x]"), &["rules/boundaries.yml:6:14 WIRE_TYPE"]);
    check("boundaries: []\n", &["rules/boundaries.yml:1:13 WIRE_BOUNDS"]);
    check("boundaries:\n", &["rules/boundaries.yml:1:11 WIRE_TYPE"]);
}

#[test]
fn globs_that_never_match_are_refused() {
    for glob in ["./x", "/x", "dir/", "!x", "a\\*", "a//b", "../x"] {
        check(
            one_rule(&format!("['{glob}']"), "[x]"),
            &["rules/boundaries.yml:6:15 SCAN_GLOB_NEVER_MATCHES"],
        );
    }
    check(one_rule("['[a']", "[x]"), &["rules/boundaries.yml:6:15 SCAN_GLOB_SYNTAX"]);
    check(one_rule("['**.tf']", "[x]"), &["rules/boundaries.yml:6:15 SCAN_GLOB_SYNTAX"]);
}

#[test]
fn duplicate_keys_and_ids_are_refused() {
    check(one_rule("['**']", "[x]") + "    title: again\n", &["rules/boundaries.yml:8:5 YAML_DUPLICATE_KEY"]);
    let sandbox = Sandbox::new();
    let invariants = one_rule("['**']", "[x]")
        .replace("boundaries", "invariants")
        .replace("forbidden_patterns", "required_absent");
    sandbox
        .write("rules/boundaries.yml", one_rule("['**']", "[x]"))
        .write("rules/invariants.yml", invariants);
    let ran = sandbox.run(&["scan"]);
    assert_eq!(ran.exit, Some(2));
    assert!(
        ran.stderr().contains("rule id `R-1` is used twice, first in boundaries.yml"),
        "{}",
        ran.screen()
    );
    assert!(ran.stderr().contains("rules/invariants.yml:2:9 at /invariants/0/id"), "{}", ran.screen());
}

#[test]
fn yaml_bombs_tags_second_documents_and_bytes_are_refused() {
    let mut bomb = one_rule("['**']", "[x]") + "bomb0: &b0 [x, x, x, x, x, x, x, x]\n";
    for level in 1..10 {
        let before = format!("*b{}, ", level - 1).repeat(7);
        bomb.push_str(&format!("bomb{level}: &b{level} [{before}]\n"));
    }
    check(&bomb, &["rules/boundaries.yml:13:28 YAML_ALIASES"]);
    check("[".repeat(400_000), &["rules/boundaries.yml:1:256 YAML_SYNTAX"]);
    check(one_rule("['**']", "[!!binary x]"), &["rules/boundaries.yml:7:37 YAML_TAG"]);
    check(one_rule("['**']", "[x]") + "---\nboundaries: []\n", &["rules/boundaries.yml:8:1 YAML_DOCUMENTS"]);
    check(b"boundaries: \xff", &["rules/boundaries.yml:1:13 YAML_BAD_UTF8"]);
    check(one_rule("['**']", "[*:*]"), &["rules/boundaries.yml:7:28 YAML_ALIASES"]);
    check("boundaries: [", &["rules/boundaries.yml:1:13 YAML_SYNTAX"]);
}

#[test]
fn a_missing_or_empty_bundle_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("main.tf", "x");
    let missing = |sandbox: &Sandbox, options: &[&str]| {
        let ran = sandbox.run(&[&["scan"], options].concat());
        assert_eq!((ran.exit, ran.stdout()), (Some(2), ""), "{}", ran.screen());
        assert!(ran.stderr().contains("SCAN_RULES_MISSING"), "{}", ran.screen());
    };
    missing(&sandbox, &[]);
    missing(&sandbox, &["--rules", "nowhere"]);
    sandbox.write("rules/readme.md", "");
    missing(&sandbox, &[]);
    sandbox.write("rules/deprecated.yml", "deprecated: []\n");
    missing(&sandbox, &[]);
    sandbox.write("rules/boundaries.yml", "");
    let ran = sandbox.run(&["scan"]);
    assert_eq!(ran.exit, Some(2), "{}", ran.screen());
}

#[test]
fn a_malformed_deprecated_file_is_an_error_too() {
    let sandbox = Sandbox::new();
    sandbox
        .write("rules/boundaries.yml", one_rule("['**']", "[x]"))
        .write("rules/deprecated.yml", "deprecated: nothing\n");
    let ran = sandbox.run(&["scan"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr().contains("rules/deprecated.yml:1:13"), "{}", ran.screen());
}

#[test]
fn problems_are_shown_for_people_and_for_machines() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['./x']", "['']").replace("mode: fail", "mode: warn"));
    insta::assert_snapshot!(sandbox.run(&["scan"]).screen());
    insta::assert_snapshot!(sandbox.run(&["scan", "--errors", "json"]).screen());
}

#[test]
fn ten_thousand_rules_are_read_and_one_more_is_not() {
    let count = if is_soak() { 10_000 } else { 1_000 };
    let rules = |count: usize| {
        let one = |number: usize| {
            format!(
                "  - {{id: R-{number}, title: T, enforcement: {{mode: fail}}, match: {{files: ['**/{number}/*'], forbidden_patterns: ['<{number}>']}}}}\n"
            )
        };
        format!("boundaries:\n{}", (0..count).map(one).collect::<String>())
    };
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", rules(count)).write("a/7/x", "<7>").write("a/8/x", "<7>");
    let ran = sandbox.run(&["scan"]);
    assert_eq!(crate::scan::violations(&ran), ["R-7 a/7/x:1:1 <7>"]);
    sandbox.write("rules/boundaries.yml", rules(10_001));
    let ran = sandbox.run(&["scan"]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr().contains("SCAN_RULES_TOO_MANY"), "{}", ran.stderr());
}

/// Each file names, on its first lines, every place and cause it is refused for.
#[test]
fn every_invalid_file_of_the_corpus_is_refused_for_its_own_reasons() {
    let files = shipped_under("corpus/scan/invalid");
    assert!(files.len() >= 15, "{}", files.len());
    for path in files {
        let text = shipped_text(&path);
        let expected = text.lines().map_while(|line| line.strip_prefix("# expected: "));
        let expected: Vec<String> = expected.map(|place| format!("rules/boundaries.yml:{place}")).collect();
        assert!(!expected.is_empty(), "{path}");
        assert_eq!(refused(&text), expected, "{path}");
    }
}

#[test]
fn every_valid_file_of_the_corpus_is_taken() {
    for path in shipped_under("corpus/scan/valid") {
        let sandbox = Sandbox::new();
        sandbox.write("rules/boundaries.yml", shipped_text(&path)).write("main.tf", "x");
        let ran = sandbox.run(&["scan"]);
        assert_eq!(ran.exit, Some(0), "{path}: {}", ran.screen());
        assert_eq!(sandbox.run(&["scan", "test"]).exit, Some(0), "{path}");
    }
}
