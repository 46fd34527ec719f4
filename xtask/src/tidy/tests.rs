//! The frame of the rules, and the one `check` that all their tests call.

use std::collections::BTreeSet;

use super::{RULES, Rule, run};
use crate::checkout::Tree;

/// A tree of these files.
pub(super) fn tree(files: &[(&str, &str)]) -> Tree {
    Tree { files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect() }
}

/// The single place that calls a rule: these files break it in these places, and in no other.
#[track_caller]
pub(super) fn check(rule: &Rule, files: &[(&str, &str)], expected: &[&str]) {
    let mut found: Vec<String> = (rule.check)(&tree(files)).iter().map(ToString::to_string).collect();
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn every_rule_has_its_own_name_and_a_reason() {
    let names: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(names.len(), RULES.len());
    assert!(RULES.iter().all(|rule| !rule.why.is_empty()));
}

#[test]
fn a_broken_rule_is_reported_with_place_name_and_reason() {
    let answer = run(&tree(&[("crates/a/src/lib.rs", "fn main() {}\n")]));
    assert!(
        answer.text.contains(
            "crates/a/src/lib.rs:1: does not start with `//!`\n  header: a file says in one sentence what it is for"
        ),
        "{}",
        answer.text
    );
    assert_eq!(answer.exit, std::process::ExitCode::FAILURE);
}
