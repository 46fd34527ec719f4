//! What globs match and refuse; `globset` is the second opinion.

use alloc::{
    format,
    string::{String, ToString as _},
    vec,
    vec::Vec,
};

use globset::{GlobBuilder, GlobMatcher};
use proptest::prelude::*;

use super::*;

/// The single place that asks whether a glob matches.
#[track_caller]
fn check(glob: &str, matching: &[&str], others: &[&str]) {
    let glob = Glob::parse(glob).unwrap();
    let matches = |path: &&&str| glob.matches(path.as_bytes());
    assert_eq!(matching.iter().filter(matches).collect::<Vec<_>>(), matching.iter().collect::<Vec<_>>());
    assert_eq!(others.iter().filter(matches).collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[track_caller]
fn check_refused(glob: &str, code: &str) {
    assert_eq!(Glob::parse(glob).unwrap_err().code.as_str(), code, "{glob}");
}

#[test]
fn any_number_of_folders_includes_none() {
    check(
        "**/*.tf",
        &["main.tf", "a/main.tf", "a/b/c/main.tf", ".tf", ".github/x.tf"],
        &["main.tfx", "a.tf/b"],
    );
    check("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb", "x/a/b"]);
    check("a/**", &["a/b", "a/b/c", "a/.hidden"], &["a", "ab/c"]);
    check("**", &["a", "a/b", ".a/.b"], &[]);
    check("**/**/x", &["x", "a/b/x"], &["xx"]);
    check("**/a/**/*.go", &["a/x.go", "b/a/c/d/x.go"], &["x.go", "b/x.go"]);
}

#[test]
fn a_star_and_a_question_mark_stay_within_one_name() {
    check("*.tf", &["x.tf", ".tf"], &["a/x.tf", "x.tfvars"]);
    check("a/*/c", &["a/b/c", "a/.b/c"], &["a/c", "a/b/b/c"]);
    check("?.tf", &["x.tf", "é.tf"], &[".tf", "xy.tf", "a/x.tf"]);
    check("*a*b*", &["ab", "xaxbx", "aab"], &["ba", "a/b"]);
}

#[test]
fn a_class_stands_for_one_character() {
    check("[abx-z].tf", &["a.tf", "y.tf"], &["c.tf", "ab.tf"]);
    check("[!a].tf", &["b.tf", "é.tf"], &["a.tf", "a/b.tf", ".tf"]);
    check("[^a]x", &["bx"], &["ax"]);
    check("[]-]x", &["]x", "-x"], &["ax"]);
    check("[é]x", &["éx"], &["ex"]);
    check("[*][?][{]x[}]", &["*?{x}"], &["ab{x}"]);
    check("a[!x]b", &["a-b"], &["a/b", "axb"]);
}

#[test]
fn braces_stand_for_either() {
    check("**/*.{tf,tfvars}", &["x.tf", "a/x.tfvars"], &["x.tfx", "x.{tf,tfvars}"]);
    check("{a,b/**}/x", &["a/x", "b/x", "b/c/d/x"], &["c/x"]);
    check("x{,.{y,z}}", &["x", "x.y", "x.z"], &["x."]);
    check("{a}", &["a"], &["{a}"]);
    check("a,b", &["a,b"], &["a"]);
    check("*{,a}*", &["x", "xax"], &["x/y"]);
    check("{*,b}*/{**/c,d}", &["x/c", "bx/y/c", "x/d"], &["c", "x/y/d"]);
}

#[test]
fn bytes_that_are_no_text_are_still_names() {
    let glob = Glob::parse("**/?*.tf").unwrap();
    assert!(glob.matches(b"a/\xff\xfe.tf"));
    assert!(Glob::parse("?.tf").unwrap().matches(b"\xff.tf"));
    assert!(Glob::parse("[!a].tf").unwrap().matches(b"\xff.tf"));
    assert!(!Glob::parse("[a-z].tf").unwrap().matches(b"\xff.tf"));
}

#[test]
fn what_can_never_match_is_refused() {
    let never = [
        "",
        "./x",
        "/x",
        "x/",
        "!x",
        "a\\*",
        " x",
        "x ",
        "a//b",
        "a/./b",
        "a/../b",
        "..",
        ".",
        "x\0",
        ".git/config",
        "{a,/b}",
        "{a,b/}",
        "a/{,b}",
        "[/]",
        "[.-0]",
        ".git",
        "**//x",
    ];
    for glob in never {
        check_refused(glob, "SCAN_GLOB_NEVER_MATCHES");
    }
}

#[test]
fn what_is_malformed_or_misleading_is_refused() {
    for glob in ["a**b", "**.tf", "a/**b", "[a", "a[", "{a,b", "a}", "{}", "{1..3}", "[z-a]"] {
        check_refused(glob, "SCAN_GLOB_SYNTAX");
    }
    check_refused(&"a".repeat(GLOB_BYTES_MAX + 1), "SCAN_GLOB_SYNTAX");
    check_refused(&"{".repeat(9), "SCAN_GLOB_SYNTAX");
    assert!(Glob::parse(&"a".repeat(GLOB_BYTES_MAX)).is_ok());
    assert!(Glob::parse("{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}").is_ok());
    check_refused(
        "{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1,2,3,4,5,6,7,8,9}{0,1}",
        "SCAN_GLOB_TOO_MANY",
    );
    check_refused(&"{a,b}".repeat(100), "SCAN_GLOB_TOO_MANY");
}

/// The same glob for `globset`, which matches bytes: a character that is longer than one byte becomes another.
fn for_oracle(text: &str) -> String {
    text.chars().map(|character| if character == 'é' { 'E' } else { character }).collect()
}

fn oracle(glob: &str) -> GlobMatcher {
    GlobBuilder::new(&for_oracle(glob))
        .literal_separator(true)
        .empty_alternates(true)
        .backslash_escape(false)
        .build()
        .unwrap()
        .compile_matcher()
}

/// Pieces that make every construct likely, also beside each other.
fn any_glob() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        4 => Just("a".to_string()),
        3 => Just("b".to_string()),
        2 => Just("é".to_string()),
        2 => Just(".".to_string()),
        3 => Just("*".to_string()),
        2 => Just("?".to_string()),
        1 => Just("[ab]".to_string()),
        1 => Just("[a-é]".to_string().replace('é', "c")),
        1 => Just("[!a]".to_string()),
        1 => Just("[^b.]".to_string()),
        1 => Just("{a,b}".to_string()),
        1 => Just("{,a.b}".to_string()),
        1 => Just("{a/b,é}".to_string()),
        1 => Just("{*.a,b{a,?}}".to_string()),
    ];
    let name = proptest::collection::vec(name, 1..4).prop_map(|pieces| pieces.concat());
    let part = prop_oneof![3 => name, 1 => Just("**".to_string())];
    proptest::collection::vec(part, 1..5).prop_map(|parts| parts.join("/"))
}

fn any_path() -> impl Strategy<Value = String> {
    proptest::collection::vec("[abé.c]{1,4}", 1..5).prop_map(|names| names.join("/"))
}

/// Whether `globset` lets a negated class take a slash, which no class of ours does.
fn has_negated_class(glob: &str) -> bool {
    glob.contains("[!") || glob.contains("[^")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn globset_says_the_same(glob in any_glob(), paths in proptest::collection::vec(any_path(), 8)) {
        let Ok(ours) = Glob::parse(&glob) else { return Ok(()) };
        let theirs = oracle(&glob);
        for path in paths {
            let found = ours.matches(path.as_bytes());
            let expected = theirs.is_match(for_oracle(&path));
            // A match of theirs that we do not share may only come from a negated class that took a slash.
            if has_negated_class(&glob) && expected && !found {
                prop_assert!(path.contains('/'));
                continue;
            }
            prop_assert_eq!(found, expected, "{} on {}", glob, path);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_set_says_the_same_as_its_globs(
        globs in proptest::collection::vec(any_glob(), 1..12),
        path in any_path(),
    ) {
        let globs: Vec<Glob> = globs.iter().filter_map(|glob| Glob::parse(glob).ok()).collect();
        let mut together = Vec::new();
        GlobSet::new(&globs).matches(path.as_bytes(), &mut together);
        let alone: Vec<u32> =
            (0..).zip(&globs).filter(|(_, glob)| glob.matches(path.as_bytes())).map(|(number, _)| number).collect();
        prop_assert_eq!(together, alone);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a*?\\[\\]{},./!^ -]{0,24}") {
        if let Ok(glob) = Glob::parse(&text) {
            prop_assert_eq!(glob.as_str(), text);
        }
    }
}

#[test]
fn a_folder_that_is_the_same_is_not_made_again() {
    let globs = [Glob::parse("**/*.tf").unwrap(), Glob::parse("a/**/b").unwrap()];
    let set = GlobSet::new(&globs);
    let root = set.root();
    assert!(!set.is_same(&root, b"a"));
    let below = set.enter(&root, b"x");
    assert!(set.is_same(&below, b"y"));
    assert_eq!(set.enter(&below, b"y"), below);
    let a = set.enter(&root, b"a");
    assert!(set.is_same(&a, b"z"));
    assert_eq!(set.enter(&a, b"z"), a);
    let only_root = GlobSet::new(&[Glob::parse("*.tf").unwrap()]);
    assert!(only_root.enter(&only_root.root(), b"x").is_dead());
    assert_eq!(format!("{}", globs[0].as_str()), "**/*.tf");
}
