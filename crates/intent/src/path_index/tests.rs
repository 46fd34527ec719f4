//! What meets what; every pair is tried both ways round.
#![expect(clippy::string_slice, reason = "the slow matcher of the test walks ASCII")]

use alloc::{vec, vec::Vec};

use countersign_canon::RepoPath;
use proptest::prelude::*;

use super::PathIndex;
use crate::pattern::PathPattern;

fn meets(a: &str, b: &str) -> bool {
    let (a, b) = (RepoPath::parse(a).unwrap(), RepoPath::parse(b).unwrap());
    let mut index = PathIndex::new();
    index.insert(&PathPattern::of(&a), 7);
    index.meeting(&PathPattern::of(&b)) == [7]
}

#[track_caller]
fn check(a: &str, b: &str, expected: bool) {
    assert_eq!(meets(a, b), expected, "{a} against {b}");
    assert_eq!(meets(b, a), expected, "{b} against {a}");
}

#[test]
fn directories_hold_what_lies_below_by_whole_segments() {
    check("src/api/routes.py", "src/api/routes.py", true);
    check("./src//api/routes.py", "src/api/routes.py", true);
    check("src", "src/api/routes.py", true);
    check("src/", "src/api/routes.py", true);
    check("src", "srcfoo", false);
    check("src", "srcfoo/a.py", false);
    check("src/api", "src/api_v2/a.py", false);
    check("src/a.py", "src/b.py", false);
    check(".", "anything/at/all", true);
}

#[test]
fn globs_name_files_unless_they_say_otherwise() {
    check("src/api/**", "src/api/routes.py", true);
    check("src/api/**", "src/api/v1/routes.py", true);
    check("src/api/**", "src/apis/routes.py", false);
    check("src/*", "src/a.py", true);
    check("src/*", "src/api/a.py", false);
    check("src/*/", "src/api/a.py", true);
    check("src/*.py", "src/a.py", true);
    check("src/*.py", "src/a.pyi", false);
    check("src/*.py", "src", true);
    check("src/**/*.py", "src/a.py", true);
    check("src/**/*.py", "src/x/y/a.py", true);
    check("src/**/*.py", "src/x/y/a.rs", false);
    check("src/?.py", "src/ab.py", false);
    check("src/**/*.py", "src/api", true);
    check("src/**/*.py", "src/.config", true);
    check("pages/[id].tsx", "pages/i.tsx", false);
}

#[test]
fn globs_meet_globs_when_one_path_could_be_both() {
    check("src/*.py", "src/a*", true);
    check("src/a*.py", "src/b*.py", false);
    check("src/*_test.py", "src/api_*", true);
    check("src/**/test_*.py", "src/api/**", true);
    check("src/**/a.py", "**/b.py", false);
    check("**/a.py", "src/**/?.py", true);
    check("docs/*.md", "docs/*.rst", false);
    check("a/**/b/**/c.py", "a/x/c.py", false);
    check("a/**/b/**/c", "a/b/c", true);
    check("a/**/b/**/c", "a/x/b/y/z/c", true);
}

/// The slow and obvious answer for a pattern and one file: try every way to spend the segments.
fn matches(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, _) => path.is_empty(),
        (Some((&"**", rest)), None) => matches(rest, path),
        (Some((&"**", rest)), Some((_, below))) => matches(rest, path) || matches(pattern, below),
        (Some(_), None) => false,
        (Some((first, rest)), Some((segment, below))) => {
            segment_matches(first, segment) && matches(rest, below)
        }
    }
}

fn segment_matches(glob: &str, text: &str) -> bool {
    match (glob.chars().next(), text.chars().next()) {
        (None, None) => true,
        (Some('*'), _) => {
            segment_matches(&glob[1..], text) || (!text.is_empty() && segment_matches(glob, &text[1..]))
        }
        (Some('?'), Some(_)) => segment_matches(&glob[1..], &text[1..]),
        (Some(a), Some(b)) if a == b => segment_matches(&glob[1..], &text[1..]),
        (Some(_) | None, Some(_) | None) => false,
    }
}

/// Every file of up to three segments over a tiny alphabet.
fn small_world() -> Vec<Vec<&'static str>> {
    let names = ["a", "b", "ab", "ba", "abc"];
    let mut paths: Vec<Vec<&str>> = names.iter().map(|name| vec![*name]).collect();
    for _ in 0..3 {
        let longer: Vec<Vec<&str>> = paths
            .iter()
            .flat_map(|path| names.iter().map(move |name| path.iter().copied().chain([*name]).collect()))
            .collect();
        paths.extend(longer);
        paths.sort();
        paths.dedup();
    }
    paths.retain(|path| path.len() <= 4);
    paths
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Two globs of closed files meet exactly if some file of a small world matches both, where the world is large
    /// enough for the patterns drawn.
    #[test]
    fn meeting_agrees_with_trying_every_file(
        a in prop::collection::vec(prop::sample::select(vec!["a", "b", "a*", "*b", "?", "**"]), 1..3),
        b in prop::collection::vec(prop::sample::select(vec!["a", "b", "a*", "*b", "?", "**"]), 1..3),
    ) {
        // End both in a glob that names files, so that nothing is open.
        let close = |mut pattern: Vec<&'static str>| { pattern.push("*"); pattern };
        let (a, b) = (close(a), close(b));
        let expected = small_world().iter().any(|path| matches(&a, path) && matches(&b, path));
        prop_assert_eq!(meets(&a.join("/"), &b.join("/")), expected);
    }
}
