//! Rule: the files that make a house a house are there, and are there once.

use super::{Finding, Rule};
use crate::checkout::Tree;

pub(super) const RULE: Rule =
    Rule { name: "house", why: "people and machines look for these files in these places", check };

const WANTED: &[&str] = &[
    ".ci/run",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "STYLE.md",
    "clippy.toml",
    "deny.toml",
    "test",
];

fn check(tree: &Tree) -> Vec<Finding> {
    let missing = WANTED.iter().filter(|path| !tree.files.contains_key(**path));
    let missing = missing.map(|path| Finding::new(path, 1, "is missing"));
    let refused = tree.files.keys().filter_map(|path| refuse(path).map(|what| Finding::new(path, 1, what)));
    let changelog = tree.files.get("CHANGELOG.md").filter(|text| !text.contains("\n## [Unreleased]\n"));
    let changelog = changelog.map(|_| Finding::new("CHANGELOG.md", 1, "has no `## [Unreleased]`"));
    let run = tree.files.get(".ci/run").filter(|text| commands(text) != ["exec ./test"]);
    let run = run.map(|_| Finding::new(".ci/run", 1, "does more, or less, than `exec ./test`"));
    missing.chain(refused).chain(changelog).chain(run).collect()
}

fn refuse(path: &str) -> Option<&'static str> {
    match path.rsplit('/').next().unwrap_or(path) {
        "clippy.toml" | ".clippy.toml" if path != "clippy.toml" => Some(
            "is a second clippy.toml: clippy takes the nearest and does not merge, so the root's would be lost",
        ),
        "rust-toolchain" | "rust-toolchain.toml" => {
            Some("pins a toolchain; the `stable` of the machine is the one we build with")
        }
        _ => None,
    }
}

/// The lines of a script that do something, but for finding its own folder.
fn commands(script: &str) -> Vec<&str> {
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter(|line| !line.starts_with("cd ")).collect()
}

#[cfg(test)]
mod tests;
