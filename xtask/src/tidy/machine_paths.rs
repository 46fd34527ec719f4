//! Rule: no file names a place of somebody's machine.

use super::{Finding, Rule, files_where, numbered};
use crate::checkout::Tree;

pub(super) const RULE: Rule =
    Rule { name: "machine paths", why: "the repository works, and reads, the same on every machine", check };

/// Folders of a root directory that belong to one machine or one person.
const FOLDERS: &[&str] = &["home", "root", "work"];

/// What the program is tried on: command lines and documents of other people may name such places.
const DATA: &[&str] = &["corpus/", "examples/"];

fn check(tree: &Tree) -> Vec<Finding> {
    let marks: Vec<String> = FOLDERS.iter().map(|folder| format!("/{folder}/")).collect();
    let is_ours = |path: &str| !DATA.iter().any(|folder| path.starts_with(folder));
    let mut findings = Vec::new();
    for (path, text) in files_where(tree, is_ours) {
        for (line, content) in numbered(text) {
            let found = marks.iter().filter(|mark| has_root_path(content, mark));
            findings.extend(found.map(|mark| Finding::new(path, line, format!("names `{mark}`"))));
        }
    }
    findings
}

/// Whether `mark` stands where a path begins, not in the middle of one (`docs` + `mark`).
fn has_root_path(content: &str, mark: &str) -> bool {
    let continues_path = |before: &str| {
        before.ends_with(|last: char| {
            last.is_alphanumeric() || matches!(last, '.' | '_' | '-' | '}' | ')' | '*')
        })
    };
    content.match_indices(mark).any(|(at, _)| !content.get(..at).is_some_and(continues_path))
}

#[cfg(test)]
mod tests;
