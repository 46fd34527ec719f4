//! Rule: a module is named for what it holds.

use super::{Finding, Rule, numbered, rust_files};
use crate::checkout::Tree;

pub(super) const RULE: Rule =
    Rule { name: "module names", why: "a name that fits everything attracts everything", check };

const REFUSED: &[&str] =
    &["util", "utils", "common", "helper", "helpers", "manager", "managers", "misc", "shared"];

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in rust_files(tree) {
        let names = path.split('/').map(|name| name.strip_suffix(".rs").unwrap_or(name));
        for name in names.filter(|name| REFUSED.contains(name)) {
            findings.push(Finding::new(path, 1, format!("is named `{name}`")));
        }
        for (line, content) in numbered(text) {
            if let Some(name) = inline_module(content).filter(|name| REFUSED.contains(name)) {
                findings.push(Finding::new(path, line, format!("has a module named `{name}`")));
            }
        }
    }
    findings
}

/// The name of the module that this line opens, if it opens one.
fn inline_module(content: &str) -> Option<&str> {
    let content = content.trim_start();
    let content = content.strip_prefix("pub(crate) ").or(content.strip_prefix("pub ")).unwrap_or(content);
    content.strip_prefix("mod ")?.strip_suffix('{').map(str::trim)
}

#[cfg(test)]
mod tests;
