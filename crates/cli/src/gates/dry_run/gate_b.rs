//! Gate B: every shipped result and every result made now has the whole form, keeps DE1 to DE6, and is what its intent
//! gives; the shipped ones byte for byte.

use countersign_canon::Json;

use super::{
    Engine, Gate,
    examples::{Example, Examples},
};

pub(super) const GATE: Gate =
    Gate { letter: "B", what: "examples and results valid against full schemas", check };

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    examples.examples.iter().flat_map(|example| judge(examples, example, engine)).collect()
}

fn judge(examples: &Examples, example: &Example, engine: Engine) -> Vec<String> {
    let name = &example.name;
    let source = match examples.source(example) {
        Ok(source) => source,
        Err(reason) => return vec![format!("{name}: {reason}")],
    };
    let mut complaints = Vec::new();
    let mut hold = |result: &Json<'_>, when: &str| {
        let found = (engine.judge)(result, &source, examples.registry.as_ref());
        complaints.extend(
            found.iter().map(|issue| format!("{name}, {when}{}: {}: {issue}", issue.pointer, issue.code)),
        );
    };
    match example.shipped() {
        Some(shipped) => hold(&shipped, "shipped"),
        None => hold(&Json::from(""), "shipped"),
    }
    match examples.result(example, engine) {
        Ok(made) => {
            hold(&made, "made now");
            if example.files.get("result.json").map(Vec::as_slice) != Some(made.to_pretty().as_bytes()) {
                complaints.push(format!("{name}/result.json: is not what the engine gives now"));
            }
        }
        Err(reason) => complaints.push(format!("{name}, made now: {reason}")),
    }
    complaints
}
