//! Gate G: each conflict type is found where it was planted, and none where nothing was.

use super::{Engine, Gate, examples::Examples};

pub(super) const GATE: Gate =
    Gate { letter: "G", what: "each conflict type found where planted, none in clean sets", check };

const PLANTED: &[(&str, &str)] = &[
    ("conflict_resource", "resource_conflict"),
    ("conflict_effect", "effect_conflict"),
    ("conflict_order", "order_conflict"),
    ("conflict_constraint", "constraint_conflict"),
];

const CLEAN: &[&str] = &["scenario_a_read_only", "merge_union"];

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, planted) in PLANTED {
        let found = types(examples, engine, name);
        if !found.contains(&(*planted).to_owned()) {
            complaints.push(format!("{name}: {planted} was planted, found {found:?}"));
        }
    }
    for name in CLEAN {
        let found = types(examples, engine, name);
        if !found.is_empty() {
            complaints.push(format!("{name}: is clean, found {found:?}"));
        }
    }
    complaints
}

fn types(examples: &Examples, engine: Engine, name: &str) -> Vec<String> {
    let Some(example) = examples.examples.iter().find(|example| example.name == name) else {
        return vec!["no such example".to_owned()];
    };
    let documents = match examples.outcome(example, engine) {
        Ok(documents) => documents,
        Err(reason) => return vec![reason],
    };
    let conflicts =
        documents.first().and_then(|result| result.get("evaluation")?.get("conflicts")?.as_array());
    let types = conflicts.unwrap_or_default().iter().filter_map(|conflict| conflict.get("type")?.as_str());
    types.map(str::to_owned).collect()
}
