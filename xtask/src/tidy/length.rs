//! Rule: files stay short enough to be read in one sitting.

use super::{Finding, Rule, files_where};
use crate::checkout::Tree;

pub(super) const RULE: Rule = Rule {
    name: "length",
    why: "length is held from the first day, or not at all; split by what is told",
    check,
};

/// LIMIT: 400 is wished for; beyond 600 a file tells more than one story.
const RUST_LINES_MAX: usize = 600;

/// LIMIT: what does not fit on these is not read.
const DOCUMENTS: &[(&str, usize)] = &[("README.md", 150), ("ARCHITECTURE.md", 300), ("test", 200)];

/// Rust files that may be longer, each with its limit and the reason.
const EXCEPTIONS: &[Exception] = &[];

#[derive(Debug)]
struct Exception {
    path: &'static str,
    lines_max: usize,
    /// Why one file reads better here than two.
    #[expect(dead_code, reason = "read by people, here")]
    reason: &'static str,
}

fn check(tree: &Tree) -> Vec<Finding> {
    judge(tree, EXCEPTIONS)
}

fn judge(tree: &Tree, exceptions: &[Exception]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in files_where(tree, |path| lines_max(path, exceptions).is_some()) {
        let lines = text.lines().count();
        let allowed = lines_max(path, exceptions).unwrap_or(RUST_LINES_MAX);
        if lines > allowed {
            let what = format!("has {lines} lines, the limit is {allowed}");
            findings.push(Finding::new(path, allowed.saturating_add(1), what));
        }
    }
    for Exception { path, .. } in exceptions {
        let is_long = tree.files.get(*path).is_some_and(|text| text.lines().count() > RUST_LINES_MAX);
        if !is_long {
            findings.push(Finding::new(path, 1, "has an exception that it does not need; remove it"));
        }
    }
    findings
}

fn lines_max(path: &str, exceptions: &[Exception]) -> Option<usize> {
    let exception = exceptions.iter().find(|exception| exception.path == path);
    let document = DOCUMENTS.iter().find(|(name, _)| *name == path);
    exception
        .map(|exception| exception.lines_max)
        .or(document.map(|(_, lines_max)| *lines_max))
        .or(path.ends_with(".rs").then_some(RUST_LINES_MAX))
}

#[cfg(test)]
mod tests;
