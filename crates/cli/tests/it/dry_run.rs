//! `countersign dry-run`: the shipped examples, what is refused, and where nothing is ever written.

mod bridge;
mod examples;
mod gates;
mod layers;
mod out;

use crate::support::{Ran, Sandbox, repository};

/// Where the shipped examples are.
pub(crate) const EXAMPLES: &str = "examples/dry-run";

/// The path of a shipped file, for the command line.
pub(crate) fn shipped(path: &str) -> String {
    repository().join(path).to_str().unwrap().to_owned()
}

/// Plans a shipped intent at a fixed time.
pub(crate) fn plan(sandbox: &Sandbox, intent: &str, out: &str, more: &[&str]) -> Ran {
    let intent = shipped(intent);
    sandbox
        .run(&[&["dry-run", "plan", &intent, "--out", out, "--now", "2026-02-12T09:10:00Z"], more].concat())
}
