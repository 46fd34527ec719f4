//! Any two or more intents that load: weighing them ends, twice the same, in documents that read back.
#![no_main]

use countersign_canon::{Json, Timestamp, Wire};
use countersign_intent::{
    DocumentKind, EvaluateOptions, Intent, IntentFile, IntentSet, Limits, evaluate, read_evaluation, read_merge_plan,
};
use libfuzzer_sys::fuzz_target;

/// Seals whatever has the form of a document, so that mutations get past the checksum.
fn sealed(bytes: &[u8]) -> Option<Intent> {
    let json = Json::parse(bytes).ok()?.into_owned();
    Intent::from_json(&DocumentKind::Intent.seal(&json), None).ok()
}

fuzz_target!(|bytes: &[u8]| {
    let intents: Vec<Intent> = bytes.split(|byte| *byte == 0).filter_map(sealed).take(20).collect();
    let Some(project) = intents.first().map(|intent| intent.document().scope.project_id.as_str()) else { return };
    let ids: Vec<&str> = intents.iter().map(|intent| intent.id().as_str()).collect();
    let set = Json::object([
        ("id", Json::from("intent_set_fuzz")),
        ("type", Json::from("intent_set")),
        ("schema_version", Json::from("0.9.3")),
        ("created_at", Json::from("2026-01-01T00:00:00Z")),
        ("intent_ids", Json::array(ids)),
        ("context", Json::object([("project_id", Json::from(project)), ("env", Json::from("dev"))])),
        (
            "lineage",
            Json::object([("introduced_in", Json::from("0.9.3")), ("derived_from", Json::from(Vec::new()))]),
        ),
        ("checksum", Json::from("")),
    ]);
    let set = DocumentKind::IntentSet.seal(&set.into_owned());
    let Ok(document) = IntentSet::read(set.to_canonical().as_bytes()) else { return };
    let files: Vec<IntentFile> = intents
        .iter()
        .map(|intent| IntentFile {
            id: intent.id().clone(),
            file: String::new(),
            bytes: Ok(DocumentKind::Intent.seal(&intent.document().write()).to_canonical().into_bytes()),
        })
        .collect();
    let Ok(set) = IntentSet::load(document, &files, None) else { return };
    let created_at = Timestamp::parse("2026-01-01T00:00:00Z").expect("a time");
    let options = EvaluateOptions { registry: None, limits: Limits::DEFAULT, created_at, answers: &[] };
    let first = evaluate(&set, options).expect("what loads can be weighed");
    assert_eq!(first, evaluate(&set, options).expect("and again"));
    read_evaluation(&first.result.write()).expect("the result is valid");
    read_merge_plan(&first.plan.write(), None).expect("the plan is valid");
});
