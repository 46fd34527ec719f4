//! The labelled pairs: what is found, held against what was written down by hand, as precision and recall.
//!
//! The labels are ours, so 1.0 is the floor and no praise. Not covered: sets of more than two, time windows, anything a
//! path cannot say (generated files, links, case-insensitive file systems), and whether labels fit other people's work.

use std::{collections::BTreeMap, fmt::Write as _};

use countersign_canon::{Json, Timestamp};
use countersign_intent::{
    DocumentKind, EvaluateOptions, IntentFile, IntentId, IntentSet, Limits, Registry, RegistryFiles, evaluate,
};

use crate::support::{shipped_text, shipped_under};

/// A label: type and severity.
type Label = (String, String);

#[derive(Default)]
struct Score {
    right: u32,
    invented: u32,
    missed: u32,
}

/// The registry's commands, as far as the pairs need them, read from the shipped YAML line by line.
fn registry() -> Registry {
    let list = |text: &str| {
        let names = text.trim_matches(['[', ']']).split(", ").filter(|name| !name.is_empty());
        Json::array(names.map(|name| Json::from(name.to_owned())))
    };
    let file = |name: &str, key: &'static str| {
        let text = shipped_text(&format!("registry/{name}.yml"));
        let entries = text.split("\n  - ").skip(1).map(|entry| {
            let members =
                entry.lines().filter_map(|line| line.trim().split_once(": ")).map(|(key, value)| {
                    let value = match value {
                        "true" | "false" => Json::from(value == "true"),
                        value if value.starts_with('[') => list(value),
                        value => Json::from(value.to_owned()),
                    };
                    (key.to_owned(), value)
                });
            Json::object(members)
        });
        Json::object([(key, Json::array(entries))])
    };
    let (workflows, agents, commands) =
        (file("workflows", "workflows"), file("agents", "agents"), file("commands", "commands"));
    Registry::load(RegistryFiles { workflows: &workflows, agents: &agents, commands: &commands }).unwrap()
}

/// What the engine finds between the two, in this order of ids.
fn found(pair: &Json<'_>, registry: &Registry, ids: [&str; 2]) -> Vec<Label> {
    let env = pair.get("env").unwrap().as_str().unwrap();
    let text = format!(
        r#"{{"id": "intent_set_pair", "type": "intent_set", "schema_version": "0.9.3", "created_at": "2026-01-25T10:00:00Z",
        "intent_ids": ["{}", "{}"], "context": {{"project_id": "shop", "env": "{env}"}},
        "lineage": {{"introduced_in": "0.9.3", "derived_from": []}}, "checksum": ""}}"#,
        ids[0], ids[1]
    );
    let set = DocumentKind::IntentSet.seal(&Json::parse(text.as_bytes()).unwrap().into_owned());
    let document = IntentSet::read(set.to_canonical().as_bytes()).unwrap();
    let files = ["a", "b"].map(|side| IntentFile {
        id: IntentId::parse(&format!("intent_{side}")).unwrap(),
        file: format!("intent_{side}.json"),
        bytes: Ok(pair.get(side).unwrap().to_canonical().into_bytes()),
    });
    let set = IntentSet::load(document, &files, Some(registry)).unwrap();
    let created_at = Timestamp::parse("2026-01-25T10:00:00Z").unwrap();
    let options =
        EvaluateOptions { registry: Some(registry), limits: Limits::DEFAULT, created_at, answers: &[] };
    let outcome = evaluate(&set, options).unwrap();
    let conflicts = outcome.result.evaluation.conflicts.iter();
    // A cap is about the union and not about the pair.
    let conflicts =
        conflicts.filter(|conflict| !conflict.description.as_str().starts_with("cannot be united"));
    let mut labels: Vec<Label> =
        conflicts.map(|conflict| (conflict.kind.to_string(), conflict.severity.to_string())).collect();
    labels.sort();
    labels
}

fn expected(pair: &Json<'_>) -> Vec<Label> {
    let text = |label: &Json<'_>, key: &str| label.get(key).unwrap().as_str().unwrap().to_owned();
    let labels = pair.get("expected").unwrap().as_array().unwrap().iter();
    let mut labels: Vec<Label> = labels.map(|label| (text(label, "type"), text(label, "severity"))).collect();
    labels.sort();
    labels
}

fn add(scores: &mut BTreeMap<String, Score>, found: &[Label], expected: &[Label]) {
    let count = |labels: &[Label], wanted: &Label| {
        u32::try_from(labels.iter().filter(|l| *l == wanted).count()).unwrap()
    };
    let mut all: Vec<&Label> = found.iter().chain(expected).collect();
    all.sort();
    all.dedup();
    for label in all {
        let (seen, wanted) = (count(found, label), count(expected, label));
        let score = scores.entry(label.0.clone()).or_default();
        score.right = score.right.saturating_add(seen.min(wanted));
        score.invented = score.invented.saturating_add(seen.saturating_sub(wanted));
        score.missed = score.missed.saturating_add(wanted.saturating_sub(seen));
    }
}

#[expect(clippy::float_arithmetic, reason = "precision and recall are ratios for people")]
fn ratio(part: u32, other: u32) -> f64 {
    let whole = part.saturating_add(other);
    if whole == 0 { 1.0 } else { f64::from(part) / f64::from(whole) }
}

#[test]
fn precision_and_recall_are_one_on_every_type() {
    let registry = registry();
    let files = shipped_under("corpus/intent/pairs");
    assert!(files.len() >= 150, "{}", files.len());
    let (mut scores, mut wrong, mut clean) = (BTreeMap::new(), Vec::new(), 0_u32);
    for path in &files {
        let text = shipped_text(path);
        let pair = Json::parse(text.as_bytes()).unwrap();
        let (found_now, wanted) = (found(&pair, &registry, ["intent_a", "intent_b"]), expected(&pair));
        assert_eq!(
            found_now,
            found(&pair, &registry, ["intent_b", "intent_a"]),
            "{path}: the other way round"
        );
        clean = clean.saturating_add(u32::from(wanted.is_empty()));
        add(&mut scores, &found_now, &wanted);
        if found_now != wanted {
            wrong.push(format!("{path}\n  found    {found_now:?}\n  expected {wanted:?}"));
        }
    }
    let mut table = format!("{} pairs, {clean} of them clean\n", files.len());
    for (kind, Score { right, invented, missed }) in &scores {
        let (precision, recall) = (ratio(*right, *invented), ratio(*right, *missed));
        let _infallible = writeln!(
            table,
            "{kind:<20} right {right:>3}  invented {invented:>2}  missed {missed:>2}  precision {precision:.3}  recall {recall:.3}"
        );
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{table}{} wrong\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(scores.len(), 4, "every type is in the corpus");
}
