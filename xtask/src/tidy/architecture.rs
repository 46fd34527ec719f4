//! Rule: every invariant of ARCHITECTURE.md says what checks it, and that check exists.

use super::{
    Finding, Rule,
    clauses::{Proofs, quoted},
    numbered,
};
use crate::checkout::Tree;

pub(super) const RULE: Rule =
    Rule { name: "architecture", why: "an invariant that nothing checks is a wish", check };

const DOCUMENT: &str = "ARCHITECTURE.md";
const MARK: &str = "**Invariant:**";
const CHECKED: &str = "Checked by:";

fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.files.get(DOCUMENT) else { return Vec::new() };
    let proofs = Proofs::of(tree);
    let invariants = invariants(text);
    if invariants.is_empty() {
        return vec![Finding::new(DOCUMENT, 1, format!("has no line that starts with `{MARK}`"))];
    }
    let mut findings = Vec::new();
    for (line, invariant) in invariants {
        let checks = invariant.split_once(CHECKED).map_or("", |(_, checks)| checks);
        if checks.trim_matches([' ', '.']).is_empty() {
            findings.push(Finding::new(
                DOCUMENT,
                line,
                format!("invariant does not end with `{CHECKED}` and a check"),
            ));
        }
        let unknown = quoted(checks).filter(|name| !proofs.has(name));
        findings.extend(unknown.map(|name| {
            Finding::new(DOCUMENT, line, format!("no test, lint or step of `./test` is called `{name}`"))
        }));
    }
    findings
}

/// Each invariant up to the end of its paragraph, on one line, with the line it starts on.
fn invariants(text: &str) -> Vec<(usize, String)> {
    let mut invariants: Vec<(usize, String)> = Vec::new();
    let mut is_open = false;
    for (line, content) in numbered(text) {
        let content = content.trim();
        if let Some(start) = content.strip_prefix(MARK) {
            invariants.push((line, start.to_owned()));
            is_open = true;
        } else if content.is_empty() {
            is_open = false;
        } else if let Some((_, last)) = invariants.last_mut().filter(|_| is_open) {
            last.push(' ');
            last.push_str(content);
        }
    }
    invariants
}

#[cfg(test)]
mod tests;
