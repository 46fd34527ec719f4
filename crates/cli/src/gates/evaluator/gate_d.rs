//! Gate D: nothing that could be executed stands in schemas, examples or outcomes (RL-E1).

use countersign_canon::{Json, scan_payload};

use super::{Engine, Gate, examples::Examples};

pub(super) const GATE: Gate =
    Gate { letter: "D", what: "no execution symbols in schemas, examples and outcomes", check };

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut judge = |place: String, json: &Json<'_>| {
        let found = scan_payload(json).into_sorted();
        complaints.extend(found.iter().map(|issue| format!("{place}{}: {issue}", issue.pointer)));
    };
    for (name, bytes) in &examples.schemas {
        match Json::parse(bytes) {
            Ok(json) => judge(format!("schemas/{name}"), &json),
            Err(issue) => judge(format!("schemas/{name}: {issue}"), &Json::from("subprocess")),
        }
    }
    for example in &examples.examples {
        for (file, bytes) in &example.files {
            // What is not JSON is looked at as one text.
            let text = String::from_utf8_lossy(bytes).into_owned();
            let json = Json::parse(bytes).unwrap_or_else(|_| Json::from(text));
            judge(format!("{}/{file}", example.name), &json);
        }
        for document in examples.outcome(example, engine).iter().flatten() {
            judge(format!("{}, made now", example.name), document);
        }
    }
    if examples.schemas.is_empty() {
        complaints.push("schemas/: there are none to look at".to_owned());
    }
    complaints
}
