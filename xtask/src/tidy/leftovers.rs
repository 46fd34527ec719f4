//! Rule: nothing is left for later, and no test is switched off.

use super::{Finding, Rule, files_where, numbered};
use crate::checkout::Tree;

pub(super) const RULE: Rule = Rule {
    name: "leftovers",
    why: "what is not done is not in the tree; a test that does not run, or that passes by crashing, shows nothing",
    check,
};

/// What is refused, in pieces, so that this file does not refuse itself.
const WORDS: &[[&str; 2]] = &[
    ["TO", "DO"],
    ["FIX", "ME"],
    ["todo", "!("],
    ["unimplemented", "!("],
    ["#[", "ignore"],
    ["should_", "panic"],
];

/// The endings of files that are code; prose may speak of anything.
const ENDINGS: &[&str] = &[".rs", ".toml", ".sh", ".js", ".css", ".html", ".yml", ".yaml", ".py", ".sql"];

fn check(tree: &Tree) -> Vec<Finding> {
    let is_code = |path: &str| {
        let is_script = path == "test" || path.starts_with(".ci/");
        // A corpus is what the program is tried on; it may hold anything.
        !path.starts_with("corpus/") && (is_script || ENDINGS.iter().any(|ending| path.ends_with(ending)))
    };
    let words: Vec<String> = WORDS.iter().map(|pieces| pieces.concat()).collect();
    let mut findings = Vec::new();
    for (path, text) in files_where(tree, is_code) {
        for (line, content) in numbered(text) {
            let found = words.iter().filter(|word| content.contains(word.as_str()));
            findings.extend(found.map(|word| Finding::new(path, line, format!("has `{word}`"))));
        }
    }
    findings
}

#[cfg(test)]
mod tests;
