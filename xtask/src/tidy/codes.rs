//! Rule: a machine code is declared once and stands in the table of codes.

use std::collections::BTreeMap;

use super::{Finding, Rule, files_where, is_test_code, numbered};
use crate::checkout::Tree;

pub(super) const RULE: Rule =
    Rule { name: "codes", why: "a code means one thing everywhere, and people can look it up", check };

const TABLE: &str = "docs/generated/codes.md";

fn check(tree: &Tree) -> Vec<Finding> {
    let table = tree.files.get(TABLE).map_or("", String::as_str);
    let mut declared: BTreeMap<&str, String> = BTreeMap::new();
    let mut findings = Vec::new();
    let is_source = |path: &str| path.starts_with("crates/") && path.ends_with(".rs") && !is_test_code(path);
    for (path, text) in files_where(tree, is_source) {
        for (line, code) in declarations(text) {
            if let Some(place) = declared.get(code) {
                findings.push(Finding::new(path, line, format!("declares `{code}`, as {place} does")));
            } else {
                declared.insert(code, format!("{path}:{line}"));
            }
        }
        let missing: Vec<(usize, &str)> =
            declarations(text).filter(|(_, code)| !table.contains(&format!("| `{code}` |"))).collect();
        if let Some((line, code)) = missing.first() {
            let count = missing.len();
            let remedy = "list the crate in xtask's codegen, then run it";
            let what = format!("{TABLE} lacks `{code}` ({count} of this file): {remedy}");
            findings.push(Finding::new(path, *line, what));
        }
    }
    findings
}

/// The codes of the `declare_codes!` blocks of a file, with their lines.
fn declarations(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_inside = false;
    numbered(text).filter_map(move |(line, content)| {
        let content = content.trim();
        if is_inside && content == "}" {
            is_inside = false;
        } else if content.ends_with("declare_codes! {")
            && !content.starts_with("//")
            && !content.contains("macro_rules")
        {
            is_inside = true;
        } else if is_inside && !content.starts_with("//") && !content.is_empty() {
            return Some((line, content));
        }
        None
    })
}

#[cfg(test)]
mod tests;
