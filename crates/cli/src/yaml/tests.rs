//! What is read as data, and where every refusal points.

use countersign_canon::Position;

use super::*;

/// The document in canonical form, or the problems as `line:column code` each.
fn read(text: &[u8]) -> Result<String, Vec<String>> {
    read_as(text, Dialect::Texts)
}

fn read_as(text: &[u8], dialect: Dialect) -> Result<String, Vec<String>> {
    let Parsed { document, issues } = parse(text, dialect);
    if issues.is_empty() {
        return Ok(document.unwrap().to_canonical());
    }
    let shown = issues.iter().map(|issue| {
        let place = Position::of(text, issue.offset.unwrap());
        format!("{place} {}", issue.code)
    });
    Err(shown.collect())
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(read(text.as_bytes()).unwrap(), expected);
}

#[track_caller]
fn check_refused(text: &str, expected: &[&str]) {
    assert_eq!(read(text.as_bytes()).unwrap_err(), expected);
}

#[test]
fn lists_mappings_and_texts_are_data() {
    check("a:\n  - b\n  - 'c d'\n  - \"e\\n\"\n", r#"{"a":["b","c d","e\n"]}"#);
    check("a: |\n  x\n  y\n", r#"{"a":"x\ny\n"}"#);
    check("a: |-\n  x\n", r#"{"a":"x"}"#);
    check("a: >-\n  x\n  y\n", r#"{"a":"x y"}"#);
    check("{a: [b, c], 'd': {}}", r#"{"a":["b","c"],"d":{}}"#);
    check("\u{feff}a: b\r\nc: d\r\n", r#"{"a":"b","c":"d"}"#);
    check("# nothing\n", "null");
    check("", "null");
    check("a:\n", r#"{"a":null}"#);
}

#[test]
fn a_scalar_that_yaml_means_something_else_by_needs_quotes() {
    for plain in
        ["22", "007", "-1", "+1", "0x1f", "0o7", "1e3", ".5", "1.", ".inf", "-.Inf", ".nan", "true", "FALSE"]
    {
        check_refused(&format!("a: {plain}"), &["1:4 YAML_NOT_TEXT"]);
        check(&format!("a: '{plain}'"), &format!(r#"{{"a":"{plain}"}}"#));
    }
    for text in [
        "yes",
        "on",
        "1.2.3",
        "0.0.0.0/0",
        "1a",
        "e3",
        ".",
        "..",
        "inf",
        "nan",
        "0x",
        "-",
        "--",
        "+",
        "Null1",
    ] {
        if text != "-" {
            check(&format!("a: {text}"), &format!(r#"{{"a":"{text}"}}"#));
        }
    }
}

#[test]
fn every_problem_has_a_line_and_a_column() {
    check_refused(
        "a: 1\nb: true\na: x\n",
        &["1:4 YAML_NOT_TEXT", "2:4 YAML_NOT_TEXT", "3:1 YAML_DUPLICATE_KEY"],
    );
    check_refused("a: !foo bar\nb: !!str x\n", &["1:9 YAML_TAG", "2:10 YAML_TAG"]);
    check_refused("a: b\n---\nc: d\n", &["2:1 YAML_DOCUMENTS"]);
    check_refused("a: [b\n", &["1:4 YAML_SYNTAX"]);
    check_refused("? [a]\n: b\n", &["1:3 YAML_KEY"]);
    check_refused("%YAML 1.2\n---\na: b\n", &["1:1 YAML_SYNTAX"]);
    check_refused("a:\n\t- b\n", &["2:2 YAML_SYNTAX"]);
    assert_eq!(read(b"a: \xff\n").unwrap_err(), ["1:4 YAML_BAD_UTF8"]);
}

#[test]
fn text_that_starts_with_a_star_is_said_to_need_quotes() {
    let Parsed { issues, .. } = parse(b"a:\n  - *:*\n", Dialect::Texts);
    assert_eq!(issues[0].code, codes::YAML_ALIASES);
    assert!(issues[0].hint.as_ref().unwrap().contains("'*"), "{:?}", issues[0].hint);
    // As the seed's own example stands there, with one quote too few.
    assert!(read(b"a: \"Action\\\": \"*\"\n").is_err());
}

#[test]
fn a_few_anchors_and_aliases_work() {
    check("a: &x [b]\nc: *x\n", r#"{"a":["b"],"c":["b"]}"#);
    let anchors: String = (0..ANCHORS_MAX).map(|n| format!("a{n}: &x{n} v\nb{n}: *x{n}\n")).collect();
    assert!(read(anchors.as_bytes()).is_ok());
    let more = format!("{anchors}z: &z v\n");
    assert_eq!(read(more.as_bytes()).unwrap_err(), [format!("{}:7 YAML_ALIASES", 2 * ANCHORS_MAX + 1)]);
    let more = format!("{anchors}z: *x0\n");
    assert_eq!(read(more.as_bytes()).unwrap_err(), [format!("{}:4 YAML_ALIASES", 2 * ANCHORS_MAX + 1)]);
    check_refused("a: &x [*x]\n", &["1:8 YAML_ALIASES"]);
    check("a: {<<: b}\n", r#"{"a":{"<<":"b"}}"#);
}

#[test]
fn bombs_do_not_go_off() {
    // Each level stands for nine of the level before.
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let before = format!("*a{}", level - 1);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", [before.as_str(); 7].join(", ")));
    }
    let refused = read(bomb.as_bytes()).unwrap_err();
    assert!(refused.len() == 1 && refused[0].ends_with("YAML_ALIASES"), "{refused:?}");
    let wide = format!("a: &a [{}]\nb: [{}]\n", vec!["x"; 5000].join(", "), ["*a"; 60].join(", "));
    assert!(read(wide.as_bytes()).unwrap_err()[0].ends_with("YAML_ALIASES"));
    for deep in ["[".repeat(400_000), "{a: ".repeat(100_000), "- ".repeat(100_000), "? ".repeat(100_000)] {
        assert_eq!(read(deep.as_bytes()).unwrap_err().len(), 1);
    }
    let deepest = Dialect::Texts.depth_max();
    let nested = |depth: usize| format!("{}x{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(nested(deepest).as_bytes()).is_ok());
    assert_eq!(
        read(nested(deepest + 1).as_bytes()).unwrap_err(),
        [format!("1:{} YAML_TOO_DEEP", deepest + 2)]
    );
    let large = vec![b'#'; YAML_BYTES_MAX + 1];
    assert_eq!(read(&large).unwrap_err(), ["1:1 YAML_TOO_LARGE"]);
    assert!(read(&large[1..]).is_ok());
}

#[test]
fn json_with_another_layout_means_what_json_means() {
    let check = |text: &str, expected: &str| {
        assert_eq!(read_as(text.as_bytes(), Dialect::Json).unwrap(), expected, "{text}");
    };
    check(
        "a: 22\nb: -1\nc: true\nd: null\ne: ~\nf:\n",
        r#"{"a":22,"b":-1,"c":true,"d":null,"e":null,"f":null}"#,
    );
    check(
        "a: '22'\nb: \"true\"\nc: 0.9.3\nd: 2026-01-01\n",
        r#"{"a":"22","b":"true","c":"0.9.3","d":"2026-01-01"}"#,
    );
    for plain in ["True", "FALSE", "yes", "no", "on", "off", "007", "+1", "0x1f", ".5", ".inf"] {
        let text = format!("a: {plain}");
        assert_eq!(read_as(text.as_bytes(), Dialect::Json).unwrap_err(), ["1:4 YAML_AMBIGUOUS"], "{plain}");
    }
    assert_eq!(read_as(b"a: &x b\n", Dialect::Json).unwrap_err(), ["1:7 YAML_ALIASES"]);
    assert_eq!(read_as(b"a: 1\na: 2\n", Dialect::Json).unwrap_err(), ["2:1 YAML_DUPLICATE_KEY"]);
}
