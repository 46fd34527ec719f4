//! Gate F: an explanation is byte for byte what is shipped.

use super::{Engine, Gate, examples::Examples};

pub(super) const GATE: Gate = Gate { letter: "F", what: "explanations as shipped", check };

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    for example in &examples.examples {
        let shipped = example.files.get("explain.txt").map(Vec::as_slice).unwrap_or_default();
        match examples.result(example, engine) {
            Ok(made) if (engine.explain)(&made).as_bytes() == shipped => (),
            Ok(_) => {
                complaints.push(format!("{}/explain.txt: is not what the engine says now", example.name))
            }
            Err(reason) => complaints.push(format!("{}: {reason}", example.name)),
        }
    }
    complaints
}
