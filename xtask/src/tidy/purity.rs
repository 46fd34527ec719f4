//! Rule: the pure crates cannot reach the world by any door that the bare-metal build does not see.

use super::{
    Finding, PURE_CRATES, Rule, files_where, is_test_code,
    manifests::{Entry, entries},
    numbered,
};
use crate::checkout::Tree;

pub(super) const RULE: Rule = Rule {
    name: "purity",
    why: "a pure crate takes data and returns data, and what is checked is what is shipped",
    check,
};

/// Who may depend on what. Adding a name here is a change of the map in ARCHITECTURE.md.
const DEPENDENCIES: &[(&str, &[&str])] = &[
    ("canon", &["ryu-js", "sha2"]),
    ("policy", &["countersign-canon", "thiserror"]),
    ("intent", &["countersign-canon", "thiserror"]),
    ("dryrun", &["countersign-canon", "countersign-intent"]),
    ("scan", &["countersign-canon", "thiserror", "memchr", "aho-corasick"]),
    ("action", &["countersign-canon"]),
    ("ledger", &["countersign-canon", "countersign-policy", "thiserror", "ed25519-dalek"]),
    ("proofcheck", &[]),
    (
        "proof",
        &[
            "countersign-canon",
            "countersign-policy",
            "countersign-ledger",
            "countersign-proofcheck",
            "thiserror",
        ],
    ),
];

const NO_STD: &str = "#![no_std]";

fn check(tree: &Tree) -> Vec<Finding> {
    let crates = PURE_CRATES.iter().flat_map(|name| judge_crate(tree, name));
    crates.chain(unlisted(tree)).chain(unchecked(tree)).collect()
}

/// Crates that call themselves pure but are held to nothing.
fn unlisted(tree: &Tree) -> impl Iterator<Item = Finding> {
    let roots = files_where(tree, |path| path.starts_with("crates/") && path.ends_with("/src/lib.rs"));
    let pure = roots.filter(|(_, text)| text.lines().any(|line| line == NO_STD));
    let unlisted =
        pure.filter(|(path, _)| !PURE_CRATES.iter().any(|name| *path == format!("crates/{name}/src/lib.rs")));
    unlisted
        .map(|(path, _)| Finding::new(path, 1, "is the root of a pure crate that tidy's list does not have"))
}

/// Whether `./test` builds these crates, and no others, without an operating system.
fn unchecked(tree: &Tree) -> Option<Finding> {
    let wanted = format!("pure_crates=({})", PURE_CRATES.join(" "));
    let script = tree.files.get("test")?;
    (!script.lines().any(|line| line == wanted))
        .then(|| Finding::new("test", 1, format!("does not say `{wanted}`")))
}

fn judge_crate(tree: &Tree, name: &str) -> Vec<Finding> {
    let folder = format!("crates/{name}/");
    let mut findings = Vec::new();
    let root = format!("{folder}src/lib.rs");
    if !tree.files.get(&root).is_some_and(|text| text.lines().any(|line| line == NO_STD)) {
        findings.push(Finding::new(&root, 1, "does not say `#![no_std]`"));
    }
    let manifest = format!("{folder}Cargo.toml");
    let text = tree.files.get(&manifest).map_or("", String::as_str);
    findings.extend(entries(text).filter_map(|entry| judge_entry(name, &manifest, &entry)));
    for (path, text) in files_where(tree, |path| path.starts_with(&folder) && path.ends_with(".rs")) {
        if path.ends_with("/build.rs") {
            findings.push(Finding::new(path, 1, "is a build script, which runs on the machine that builds"));
        }
        if !is_test_code(path) {
            findings.extend(judge_source(path, text));
        }
    }
    findings
}

fn judge_entry(name: &str, manifest: &str, entry: &Entry<'_>) -> Option<Finding> {
    let allowed = DEPENDENCIES.iter().find(|(pure, _)| *pure == name).map_or(&[][..], |(_, allowed)| allowed);
    let is_shipped = entry.is_dependency() && !entry.section.ends_with("dev-dependencies");
    let what = if is_shipped && (entry.section != "dependencies" || !allowed.contains(&entry.name())) {
        format!("`{}` in [{}] is not on this crate's list", entry.name(), entry.section)
    } else if entry.section == "features" {
        format!("feature `{}`: a pure crate is one program, not several", entry.key)
    } else if entry.section == "package" && entry.key == "build" {
        "names a build script".to_owned()
    } else {
        return None;
    };
    Some(Finding::new(manifest, entry.line, what))
}

/// Refuses conditional code: the build without an operating system would check another program than the shipped one.
fn judge_source(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_for_tests = false;
    for (line, content) in numbered(text) {
        let content = content.trim();
        if content.starts_with("//") {
            continue;
        }
        let conditions = ["cfg(", "cfg!(", "cfg_attr("].map(|mark| content.matches(mark).count());
        let is_conditional = conditions.iter().any(|count| *count > 0);
        if is_conditional && content != "#[cfg(test)]" {
            findings.push(Finding::new(path, line, "is conditional on something else than `#[cfg(test)]`"));
        }
        if content.starts_with("extern crate std") && !is_for_tests {
            findings.push(Finding::new(path, line, "takes `std` back"));
        }
        is_for_tests = content == "#[cfg(test)]";
    }
    findings
}

#[cfg(test)]
mod tests;
