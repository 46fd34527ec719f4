//! Gate A: the examples are there, complete, and no id stands for two things.

use std::collections::BTreeMap;

use countersign_canon::Json;

use super::{Engine, Gate, examples::Examples};

pub(super) const GATE: Gate = Gate { letter: "A", what: "examples present, ids unique", check };

/// The scenarios of the authoring guide; more are welcome.
const WANTED: &[&str] = &[
    "scenario_a_read_only",
    "scenario_b_clear_priority",
    "scenario_c_no_priority",
    "scenario_d_dependency",
    "conflict_resource",
    "conflict_effect",
    "conflict_order",
    "conflict_constraint",
    "merge_union",
    "merge_override",
    "merge_reject",
];

fn check(examples: &Examples, _: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    for wanted in WANTED {
        let Some(example) = examples.examples.iter().find(|example| example.name == *wanted) else {
            complaints.push(format!("{wanted}: is missing"));
            continue;
        };
        for file in ["evaluation_result.json", "merge_plan.json", "explain.txt"] {
            if !example.files.contains_key(file) {
                complaints.push(format!("{wanted}/{file}: is missing"));
            }
        }
        if let Err(reason) = example.set(examples.registry.as_ref()) {
            complaints.push(format!("{wanted}: {reason}"));
        }
    }
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for example in &examples.examples {
        for (file, bytes) in example.files.iter().filter(|(file, _)| file.ends_with(".json")) {
            let Ok(json) = Json::parse(bytes) else { continue };
            let Some(id) = json.get("id").and_then(Json::as_str) else { continue };
            let here = format!("{}/{file}", example.name);
            if let Some(there) = seen.insert(id.to_owned(), here.clone()) {
                complaints.push(format!("{here}: the id `{id}` is in {there} too"));
            }
        }
    }
    complaints
}
