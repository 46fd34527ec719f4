//! Gate B: every example, every shipped outcome and every outcome made now is valid.

use countersign_canon::Json;
use countersign_intent::validate_document;

use super::{Engine, Gate, examples::Examples};

pub(super) const GATE: Gate = Gate { letter: "B", what: "examples and outcomes valid", check };

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut judge = |place: String, bytes: &[u8]| {
        if let Err(issues) = validate_document(bytes, None, examples.registry.as_ref()) {
            complaints.extend(
                issues.iter().map(|issue| format!("{place}{}: {}: {issue}", issue.pointer, issue.code)),
            );
        }
    };
    for example in &examples.examples {
        for (file, bytes) in example.files.iter().filter(|(file, _)| file.ends_with(".json")) {
            if file != "explain.json" {
                judge(format!("{}/{file}", example.name), bytes);
            }
        }
        for document in examples.outcome(example, engine).iter().flatten() {
            let kind = document.get("type").and_then(Json::as_str).unwrap_or("outcome");
            judge(format!("{}, made now, {kind}", example.name), document.to_canonical().as_bytes());
        }
    }
    complaints
}
