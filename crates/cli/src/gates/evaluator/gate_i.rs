//! Gate I: the risk matrix is what the formulas give, computed here a second time from the raw documents.

use std::collections::BTreeSet;

use countersign_canon::Json;

use super::{
    Engine, Gate,
    examples::{Example, Examples},
};

pub(super) const GATE: Gate = Gate { letter: "I", what: "the risk matrix recomputes", check };

fn check(examples: &Examples, engine: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    for example in &examples.examples {
        let documents = match examples.outcome(example, engine) {
            Ok(documents) => documents,
            Err(reason) => {
                complaints.push(format!("{}: {reason}", example.name));
                continue;
            }
        };
        let comparison =
            documents.first().and_then(|result| result.get("evaluation")?.get("risk_comparison"));
        let matrix =
            comparison.and_then(|comparison| comparison.get("matrix")?.as_array()).unwrap_or_default();
        let intents = example
            .files
            .keys()
            .filter(|file| file.starts_with("intent_") && !file.starts_with("intent_set_"));
        if matrix.len() != intents.count() {
            complaints.push(format!("{}: the matrix has {} rows", example.name, matrix.len()));
        }
        for row in matrix {
            let id = row.get("intent_id").and_then(Json::as_str).unwrap_or_default();
            let expected = recompute(example, id);
            let keys = ["effects_risk", "scope_risk", "blast_radius", "unknowns"];
            let found =
                keys.map(|key| row.get("dimensions").and_then(|all| all.get(key)?.as_number()?.as_i64()));
            if expected.map(|scores| scores.map(Some)) != Some(found) {
                complaints.push(format!("{}/{id}: is {found:?}, should be {expected:?}", example.name));
            }
        }
    }
    complaints
}

fn texts<'j>(json: Option<&'j Json<'_>>) -> Vec<&'j str> {
    json.and_then(Json::as_array).unwrap_or_default().iter().filter_map(Json::as_str).collect()
}

/// The first bound that the count does not pass gives the score.
fn step(count: usize, steps: [(usize, i64); 3], beyond: i64) -> i64 {
    steps.iter().find(|(bound, _)| count <= *bound).map_or(beyond, |(_, score)| *score)
}

fn recompute(example: &Example, id: &str) -> Option<[i64; 4]> {
    let intent = Json::parse(example.files.get(&format!("{id}.json"))?).ok()?;
    let set = Json::parse(example.set_file()?.1).ok()?;
    let commands = intent.get("planned_commands")?.as_array()?;
    let of_effect = |effect: &str| match effect {
        "write" | "create" => 30,
        "network" => 40,
        "deploy" | "rollback" => 70,
        "data" => 80,
        "delete" => 85,
        "security" => 90,
        _ => 0,
    };
    let effects =
        commands.iter().flat_map(|command| texts(command.get("effects"))).map(of_effect).max().unwrap_or(0);
    let scope = intent.get("scope")?;
    let targets = scope.get("targets")?;
    let env = scope.get("env").or_else(|| set.get("context")?.get("env")).and_then(Json::as_str)?;
    let base = match env {
        "local" => 10,
        "dev" => 20,
        "staging" => 50,
        _ => 100,
    };
    let counts = ["files", "modules", "services"].map(|key| texts(targets.get(key)).len());
    let halves = step(counts.iter().sum(), [(5, 1), (20, 2), (50, 3)], 4);
    let scope_risk = i64::saturating_mul(base, halves).div_euclid(2).min(100);
    let changes =
        |command: &&Json<'_>| texts(command.get("effects")).iter().any(|e| !matches!(*e, "read" | "network"));
    let named = commands.iter().filter(changes).flat_map(|command| texts(command.get("evidence_refs")));
    let named = named.filter_map(|reference| reference.strip_prefix("scan://file/"));
    let files: BTreeSet<&str> = texts(targets.get("files")).into_iter().chain(named).collect();
    let critical =
        texts(targets.get("areas")).iter().any(|a| matches!(*a, "security" | "data" | "infra" | "ops"));
    let tenths = if critical { 12 } else { 10 };
    let blast = step(files.len(), [(5, 10), (20, 30), (50, 60)], 90).saturating_mul(tenths).div_euclid(10);
    let references = commands.iter().flat_map(|command| texts(command.get("evidence_refs")));
    let references: BTreeSet<&str> =
        texts(intent.get("evidence_refs")).into_iter().chain(references).collect();
    let unknowns = step(references.len(), [(5, 90), (10, 60), (20, 30)], 10);
    Some([effects, scope_risk, blast.min(100), unknowns])
}
