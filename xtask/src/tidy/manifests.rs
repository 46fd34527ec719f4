//! Rule: every crate has the house's lints, and every dependency its reason.

use super::{Finding, Rule, files_where, numbered};
use crate::checkout::Tree;

pub(super) const RULE: Rule = Rule {
    name: "manifests",
    why: "a crate without the lint table has no lints at all; a dependency is chosen once, in the root, with its reason",
    check,
};

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in files_where(tree, is_member) {
        if !entries(text)
            .any(|entry| entry.section == "lints" && entry.key == "workspace" && entry.value == "true")
        {
            findings.push(Finding::new(path, 1, "does not take the workspace's lints"));
        }
        for entry in entries(text).filter(Entry::is_dependency) {
            if !entry.key.ends_with(".workspace") && !entry.value.contains("workspace = true") {
                let what = format!("`{}` is not taken from the workspace", entry.name());
                findings.push(Finding::new(path, entry.line, what));
            }
        }
    }
    let root = tree.files.get("Cargo.toml").map_or("", String::as_str);
    let third_party = entries(root)
        .filter(|entry| entry.section == "workspace.dependencies" && !entry.value.contains("path = "));
    for entry in third_party.filter(|entry| entry.reason.is_empty()) {
        findings.push(Finding::new(
            "Cargo.toml",
            entry.line,
            format!("`{}` has no reason beside it", entry.name()),
        ));
    }
    findings
}

/// Whether this is the manifest of a workspace member.
fn is_member(path: &str) -> bool {
    let folder = path.strip_suffix("/Cargo.toml");
    folder.is_some_and(|folder| {
        folder == "xtask" || folder.strip_prefix("crates/").is_some_and(|name| !name.contains('/'))
    })
}

/// One `key = value # reason` of a manifest.
#[derive(Debug)]
pub(super) struct Entry<'t> {
    pub(super) line: usize,
    pub(super) section: &'t str,
    pub(super) key: &'t str,
    pub(super) value: &'t str,
    reason: &'t str,
}

impl<'t> Entry<'t> {
    /// Whether this is a dependency, of any kind, for any target.
    pub(super) fn is_dependency(&self) -> bool {
        self.section.ends_with("dependencies")
    }

    /// The key without what follows its first dot.
    pub(super) fn name(&self) -> &'t str {
        self.key.split('.').next().unwrap_or(self.key)
    }
}

/// The entries of a manifest, one to a line as ours are written.
pub(super) fn entries(text: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut section = "";
    numbered(text).filter_map(move |(line, content)| {
        let content = content.trim();
        if let Some(name) = content.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.trim_matches(['[', ']']);
            return None;
        }
        let (key, rest) = content.split_once('=').filter(|(key, _)| !key.starts_with('#'))?;
        let (value, reason) = rest.split_once(" #").unwrap_or((rest, ""));
        Some(Entry { line, section, key: key.trim(), value: value.trim(), reason: reason.trim() })
    })
}

#[cfg(test)]
mod tests;
