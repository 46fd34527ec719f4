//! Rule: every clause of the founding documents has a row in docs/clauses.md, and a row that says `done` shows it.

mod ids;

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, RULES, Rule, is_test_code, manifests::entries, numbered, rust_files};
use crate::checkout::Tree;

pub(super) const RULE: Rule = Rule {
    name: "clauses",
    why: "a promise without a test is a hope, and a promise without a row is forgotten",
    check,
};

const DOCUMENT: &str = "docs/clauses.md";

/// How the place of an open row begins.
const COMES_WITH: &str = "comes with ";

fn check(tree: &Tree) -> Vec<Finding> {
    judge(tree, ids::ALL)
}

fn judge(tree: &Tree, wanted: &[&str]) -> Vec<Finding> {
    let text = tree.files.get(DOCUMENT).map_or("", String::as_str);
    let proofs = Proofs::of(tree);
    let mut findings = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, content) in numbered(text).filter(|(_, content)| is_row(content)) {
        let cells: Vec<&str> = content.trim_matches('|').split('|').map(str::trim).collect();
        let problems = match cells.as_slice() {
            [id, demand, place, shown_by, status] => {
                let row = Row { id, demand, place, shown_by, status };
                let twice =
                    seen.insert(id, line).map(|first| format!("`{id}` has a row already, on line {first}"));
                twice.into_iter().chain(row.problems(tree, &proofs, wanted)).collect()
            }
            other => vec![format!("has {} cells, a row has 5", other.len())],
        };
        findings.extend(problems.into_iter().map(|what| Finding::new(DOCUMENT, line, what)));
    }
    let missing = wanted.iter().filter(|id| !seen.contains_key(**id));
    findings.extend(missing.map(|id| Finding::new(DOCUMENT, 1, format!("`{id}` has no row"))));
    findings
}

/// Whether this line is a row of a table, and neither its head nor the line under the head.
fn is_row(content: &str) -> bool {
    content.starts_with('|') && !content.starts_with("| id |") && !content.starts_with("| ---")
}

#[derive(Debug)]
struct Row<'t> {
    id: &'t str,
    demand: &'t str,
    place: &'t str,
    shown_by: &'t str,
    status: &'t str,
}

impl Row<'_> {
    fn problems(&self, tree: &Tree, proofs: &Proofs<'_>, wanted: &[&str]) -> Vec<String> {
        let Self { id, demand, place, shown_by, status } = self;
        let mut problems = Vec::new();
        if !wanted.contains(id) {
            problems.push(format!("`{id}` is not an id of xtask's list of clauses"));
        }
        if demand.is_empty() {
            problems.push(format!("`{id}` does not say what it demands"));
        }
        if quoted(place).next().is_none() {
            problems.push(format!("`{id}` does not name a part of the product"));
        }
        let nowhere = quoted(place).filter(|path| !is_place(tree, path));
        problems.extend(nowhere.map(|path| format!("`{id}` names `{path}`, which is not in the tree")));
        let unknown = quoted(shown_by).filter(|name| !proofs.has(name));
        problems.extend(unknown.map(|name| format!("`{id}` is shown by `{name}`, which does not exist")));
        match *status {
            "open" if !place.starts_with(COMES_WITH) => {
                problems.push(format!("`{id}` is open but does not say `{COMES_WITH}` which part"));
            }
            "done" if place.starts_with(COMES_WITH) => {
                problems.push(format!("`{id}` is done but still says `{COMES_WITH}`"));
            }
            "done" if quoted(shown_by).next().is_none() => {
                problems.push(format!("`{id}` is done but names no test that shows it"));
            }
            "open" | "done" => {}
            other => problems.push(format!("`{id}` has status `{other}`, not `done` or `open`")),
        }
        problems
    }
}

/// Whether a file or folder of this name is in the tree.
fn is_place(tree: &Tree, path: &str) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    tree.files.contains_key(path) || tree.files.keys().any(|file| file.starts_with(&folder))
}

/// What stands between back-ticks.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// What can be named as showing something: a test, a lint, a step of `./test`, a rule of tidy.
#[derive(Debug)]
pub(super) struct Proofs<'t> {
    names: BTreeSet<&'t str>,
    steps: BTreeSet<&'t str>,
}

impl<'t> Proofs<'t> {
    pub(super) fn of(tree: &'t Tree) -> Self {
        let tests = rust_files(tree).filter(|(path, _)| is_test_code(path));
        let tests = tests.flat_map(|(_, text)| test_names(text));
        let manifest = tree.files.get("Cargo.toml").map_or("", String::as_str);
        let lints = entries(manifest).filter(|entry| entry.section.starts_with("workspace.lints."));
        let script = tree.files.get("test").map_or("", String::as_str);
        let steps = script.lines().filter_map(|line| line.split_once("step \"")?.1.split('"').next());
        Self { names: tests.chain(lints.map(|entry| entry.key)).collect(), steps: steps.collect() }
    }

    /// Whether this exists: `module::test`, a lint, `./test: Step` or `tidy: rule`.
    pub(super) fn has(&self, name: &str) -> bool {
        if let Some(step) = name.strip_prefix("./test: ") {
            return self.steps.contains(step);
        }
        if let Some(rule) = name.strip_prefix("tidy: ") {
            return RULES.iter().any(|known| known.name == rule);
        }
        name.rsplit("::").next().is_some_and(|name| self.names.contains(name))
    }
}

/// The tests of a file, and its modules of tests; a function without `#[test]` shows nothing.
fn test_names(text: &str) -> impl Iterator<Item = &str> {
    let mut is_test = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let line = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
        let line = line.strip_prefix("async ").unwrap_or(line);
        let (name, is_shown) = match (line.strip_prefix("fn "), line.strip_prefix("mod ")) {
            (Some(name), _) => (name, std::mem::take(&mut is_test)),
            (None, Some(name)) => (name, true),
            (None, None) => return None,
        };
        let name = name.split(|character: char| !character.is_alphanumeric() && character != '_').next();
        name.filter(|_| is_shown)
    })
}

#[cfg(test)]
mod tests;
