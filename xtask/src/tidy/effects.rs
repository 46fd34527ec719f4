//! Rule: the files that may touch the world say so, and are all listed in ARCHITECTURE.md.

use std::collections::BTreeMap;

use super::{Finding, PURE_CRATES, Rule, files_where, is_test_code, numbered};
use crate::checkout::Tree;

pub(super) const RULE: Rule = Rule {
    name: "effects",
    why: "whoever wants to know what this program can do to a machine reads one list",
    check,
};

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "## What may touch the world";

fn check(tree: &Tree) -> Vec<Finding> {
    let document = tree.files.get(DOCUMENT).map_or("", String::as_str);
    let listed: BTreeMap<&str, usize> = listed(document).collect();
    let escape = ["expect(clippy::", "disallowed_methods"].concat();
    let is_shipped = |path: &str| {
        let is_source = path.starts_with("crates/") || path.starts_with("xtask/");
        is_source && path.ends_with(".rs") && !is_test_code(path)
    };
    let mut findings = Vec::new();
    for (path, text) in files_where(tree, is_shipped) {
        let escapes_at = numbered(text).find(|(_, content)| content.contains(&escape)).map(|(line, _)| line);
        let is_marked = text.starts_with("//! Effect: ");
        match (escapes_at, is_marked) {
            (None, false) => {}
            (None, true) => {
                findings.push(Finding::new(path, 1, "says `Effect:` but lifts no ban; drop the word"));
            }
            (Some(line), false) => {
                findings.push(Finding::new(
                    path,
                    line,
                    "lifts the ban on effects but does not open with `//! Effect:`",
                ));
            }
            (Some(_), true) if !listed.contains_key(path) => {
                findings.push(Finding::new(
                    path,
                    1,
                    format!("is not listed in {DOCUMENT} under `{HEADING}`"),
                ));
            }
            (Some(_), true) => {}
        }
        let is_pure = PURE_CRATES.iter().any(|name| path.starts_with(&format!("crates/{name}/")));
        if let Some(line) = escapes_at.filter(|_| is_pure) {
            findings.push(Finding::new(path, line, "lifts the ban on effects in a pure crate"));
        }
    }
    for (path, line) in listed {
        if !tree.files.get(path).is_some_and(|text| text.contains(&escape)) {
            findings.push(Finding::new(DOCUMENT, line, format!("lists `{path}`, which is no effect file")));
        }
    }
    findings
}

/// The files of the list (lines that start with "- `path`"), with their lines.
fn listed(document: &str) -> impl Iterator<Item = (&str, usize)> {
    let section = numbered(document).skip_while(|(_, content)| *content != HEADING).skip(1);
    let section = section.take_while(|(_, content)| !content.starts_with("## "));
    section.filter_map(|(line, content)| Some((content.strip_prefix("- `")?.split('`').next()?, line)))
}

#[cfg(test)]
mod tests;
