//! Rule: every Rust file starts by saying what it is for.

use super::{Finding, Rule, rust_files};
use crate::checkout::Tree;

pub(super) const RULE: Rule =
    Rule { name: "header", why: "a file says in one sentence what it is for", check };

fn check(tree: &Tree) -> Vec<Finding> {
    let headless = rust_files(tree).filter(|(_, text)| !has_header(text));
    headless.map(|(path, _)| Finding::new(path, 1, "does not start with `//!`")).collect()
}

fn has_header(text: &str) -> bool {
    text.strip_prefix("//! ").is_some_and(|rest| rest.starts_with(|first: char| !first.is_whitespace()))
}

#[cfg(test)]
mod tests;
