//! Rule: no code crosses the public functions of a pure crate, only data.

use super::{Finding, PURE_CRATES, Rule, files_where, is_test_code, numbered};
use crate::checkout::Tree;

pub(super) const RULE: Rule = Rule {
    name: "signatures",
    why: "a closure or trait object handed to a pure function could do anything in its name; data in, data out",
    check,
};

/// What a signature must not hold. Read as written: a type alias or a macro could hide one, review looks for those.
const REFUSED: &[&str] = &["dyn ", "Fn(", "FnMut(", "FnOnce(", "fn("];

/// Functions that may, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("crates/canon/src/schema.rs", "define", "builds a schema that may refer to itself; called by `record!`"),
    ("crates/canon/src/wire.rs", "text", "reading is written per type; called by `Wire` implementations"),
    (
        "crates/canon/src/wire.rs",
        "at_key",
        "keeps the pointer in step with the reading; called by `Wire` implementations",
    ),
    (
        "crates/canon/src/wire.rs",
        "at_index",
        "keeps the pointer in step with the reading; called by `Wire` implementations",
    ),
];

fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_pure = |path: &str| {
        PURE_CRATES.iter().any(|name| path.starts_with(&format!("crates/{name}/src/")))
            && path.ends_with(".rs")
    };
    for (path, text) in files_where(tree, |path| is_pure(path) && !is_test_code(path)) {
        for Signature { line, name, text } in signatures(text) {
            let found = REFUSED.iter().find(|mark| text.contains(*mark));
            let is_excepted = EXCEPTIONS.iter().any(|(file, excepted, _)| *file == path && *excepted == name);
            if let Some(mark) = found.filter(|_| !is_excepted) {
                let mark = mark.trim_end_matches(['(', ' ']);
                findings.push(Finding::new(
                    path,
                    line,
                    format!("public function `{name}` takes or gives `{mark}`"),
                ));
            }
        }
    }
    findings
}

/// A public function up to its body, on one line.
#[derive(Debug)]
struct Signature {
    line: usize,
    name: String,
    text: String,
}

/// The public functions of a file. Functions of traits count as public: whoever implements one is called by us.
fn signatures(text: &str) -> Vec<Signature> {
    let mut signatures: Vec<Signature> = Vec::new();
    let mut is_open = false;
    for (line, content) in numbered(text) {
        let content = content.trim();
        if content.starts_with("//") {
            continue;
        }
        if let Some(name) = public_function(content) {
            signatures.push(Signature { line, name: name.to_owned(), text: String::new() });
            is_open = true;
        }
        if let Some(last) = signatures.last_mut().filter(|_| is_open) {
            // The function's own `fn name(` is no function type: what follows its name is looked at.
            let content = content.split_once("fn ").map_or(content, |(_, rest)| rest);
            last.text.push_str(content);
            last.text.push(' ');
            is_open = !content.ends_with(['{', '}', ';']);
        }
    }
    signatures
}

/// The name of the public function that starts on this line.
fn public_function(content: &str) -> Option<&str> {
    let rest = content.strip_prefix("pub ")?;
    let rest = ["const ", "async ", "unsafe "]
        .iter()
        .fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    let rest = rest.strip_prefix("fn ")?;
    rest.split(|character: char| !character.is_alphanumeric() && character != '_').next()
}

#[cfg(test)]
mod tests;
