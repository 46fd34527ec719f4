//! Gate A: the examples are there, complete, and no id stands for two things.

use std::collections::BTreeMap;

use countersign_canon::Json;

use super::{Engine, Gate, examples::Examples};

pub(super) const GATE: Gate = Gate { letter: "A", what: "examples present, ids unique", check };

/// The examples that must be there; more are welcome.
const WANTED: &[&str] = &[
    "ambiguous_targets",
    "answered_question",
    "api_feature",
    "database_migration",
    "docs_change",
    "merged_intent",
    "read_only_analysis",
];

const FILES: &[&str] = &["result.json", "explain.txt", "explain.md", "explain.json", "graph.svg"];

fn check(examples: &Examples, _: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    for wanted in WANTED {
        let Some(example) = examples.examples.iter().find(|example| example.name == *wanted) else {
            complaints.push(format!("{wanted}: is missing"));
            continue;
        };
        let missing = FILES.iter().filter(|file| !example.files.contains_key(**file));
        complaints.extend(missing.map(|file| format!("{wanted}/{file}: is missing")));
        if let Err(reason) = examples.source(example) {
            complaints.push(format!("{wanted}: {reason}"));
        }
    }
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for example in &examples.examples {
        let Some(shipped) = example.shipped() else { continue };
        let Some(id) = shipped.get("result_id").and_then(Json::as_str) else { continue };
        if let Some(there) = seen.insert(id.to_owned(), &example.name) {
            complaints.push(format!("{}: the id `{id}` is in {there} too", example.name));
        }
    }
    complaints
}
