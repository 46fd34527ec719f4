//! Checks what compiler and lints cannot: one small rule to a file, each able to fail.

mod architecture;
mod clauses;
mod codes;
mod effects;
mod header;
mod house;
mod leftovers;
mod length;
mod machine_paths;
mod manifests;
mod module_names;
mod purity;
mod signatures;

use std::fmt;

use crate::{Answer, checkout::Tree};

/// Every rule. A new rule is a new file and a new line here.
const RULES: &[Rule] = &[
    architecture::RULE,
    clauses::RULE,
    codes::RULE,
    effects::RULE,
    header::RULE,
    house::RULE,
    leftovers::RULE,
    length::RULE,
    machine_paths::RULE,
    manifests::RULE,
    module_names::RULE,
    purity::RULE,
    signatures::RULE,
];

/// The crates that take data and return data.
const PURE_CRATES: &[&str] =
    &["canon", "policy", "intent", "dryrun", "scan", "action", "ledger", "proofcheck", "proof"];

/// One house rule.
#[derive(Debug)]
struct Rule {
    /// What it is called in output.
    name: &'static str,
    /// Why the house has it.
    why: &'static str,
    /// What breaks it.
    check: fn(&Tree) -> Vec<Finding>,
}

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, what } = self;
        write!(f, "{path}:{line}: {what}")
    }
}

/// Runs every rule over the tree.
pub(crate) fn run(tree: &Tree) -> Answer {
    let mut complaints = Vec::new();
    for Rule { name, why, check } in RULES {
        let mut findings = check(tree);
        findings.sort();
        complaints.extend(findings.iter().map(ToString::to_string));
        if !findings.is_empty() {
            complaints.push(format!("  {name}: {why}"));
        }
    }
    let good = format!("tidy: {} rules hold over {} files", RULES.len(), tree.files.len());
    Answer::of(&complaints, &good)
}

/// The lines of a text, counted from one.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines())
}

/// The Rust files of the tree.
fn rust_files(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    files_where(tree, |path| path.ends_with(".rs"))
}

/// The files of the tree whose path is wanted.
fn files_where(tree: &Tree, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (&str, &str)> {
    let files = tree.files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    files.filter(move |(path, _)| is_wanted(path))
}

/// Whether a Rust file holds tests only: they are not shipped.
fn is_test_code(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/")
}

#[cfg(test)]
mod tests;
