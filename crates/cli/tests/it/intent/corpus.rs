//! The corpus: every invalid file is refused for exactly its own reasons, and the schema agrees where a schema can.

use std::collections::BTreeMap;

use countersign_canon::Json;

use crate::support::{Sandbox, repository, shipped_text, shipped_under};

/// The schemas by the `type` of the documents they describe.
const SCHEMAS: [(&str, &str); 6] = [
    ("execution_intent", "intent"),
    ("intent_set", "intent_set"),
    ("intent_evaluation_result", "intent_evaluation_result"),
    ("intent_merge_plan", "intent_merge_plan"),
    ("question_pack", "question_pack"),
    ("answer_pack", "answer_pack"),
];

/// Whether the schema of its type accepts a document; nothing if it is not JSON.
fn schema_accepts(text: &str, schemas: &BTreeMap<&str, jsonschema::Validator>) -> Option<bool> {
    let json: serde_json::Value =
        serde_json::from_str(text).ok().filter(|_| Json::parse(text.as_bytes()).is_ok())?;
    let kind = json.get("type").and_then(serde_json::Value::as_str).unwrap_or_default();
    Some(schemas.get(kind).is_some_and(|schema| schema.is_valid(&json)))
}

fn schemas() -> BTreeMap<&'static str, jsonschema::Validator> {
    let schema = |(kind, name): (&'static str, &str)| {
        let text = shipped_text(&format!("schemas/{name}.schema.json"));
        (kind, jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap())
    };
    SCHEMAS.into_iter().map(schema).collect()
}

/// The issues of one file as [code, cause, pointer], sorted.
fn issues(path: &str) -> Vec<Vec<String>> {
    let file = repository().join(path);
    let ran = Sandbox::new().run(&["intent", "validate", file.to_str().unwrap()]);
    let report = Json::parse(&ran.stdout).unwrap();
    let text =
        |issue: &Json<'_>, key: &str| issue.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let rows = report.get("issues").unwrap().as_array().unwrap().iter();
    let mut rows: Vec<Vec<String>> =
        rows.map(|issue| ["code", "cause", "pointer"].map(|key| text(issue, key)).to_vec()).collect();
    rows.sort();
    rows.dedup();
    assert_eq!(ran.exit, Some(i32::from(!rows.is_empty())));
    rows
}

fn expected(name: &str) -> (Vec<Vec<String>>, String) {
    let text = shipped_text(&format!("corpus/intent/expected/{name}"));
    let json = Json::parse(text.as_bytes()).unwrap();
    let row = |row: &Json<'_>| {
        row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().to_owned()).collect()
    };
    let mut rows: Vec<Vec<String>> =
        json.get("issues").unwrap().as_array().unwrap().iter().map(row).collect();
    rows.sort();
    (rows, json.get("schema").unwrap().as_str().unwrap().to_owned())
}

#[test]
fn every_invalid_file_is_refused_for_its_own_reasons() {
    let (schemas, files) = (schemas(), shipped_under("corpus/intent/invalid"));
    assert!(files.len() >= 60, "{}", files.len());
    let mut wrong = Vec::new();
    for path in &files {
        let (rows, schema) = expected(path.rsplit('/').next().unwrap());
        let found = issues(path);
        if found != rows {
            wrong.push(format!("{path}\n  found    {found:?}\n  expected {rows:?}"));
        }
        let verdict = match schema_accepts(&shipped_text(path), &schemas) {
            None => "not_json",
            Some(true) => "accepts",
            Some(false) => "refuses",
        };
        if verdict != schema {
            wrong.push(format!("{path}: the schema {verdict}, expected that it {schema}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_valid_file_is_accepted_by_parser_and_schema() {
    let schemas = schemas();
    let mut files = shipped_under("corpus/intent/valid");
    for example in shipped_under(super::EVALUATIONS) {
        files.extend(
            shipped_under(&example)
                .into_iter()
                .filter(|path| path.ends_with(".json") && !path.ends_with("explain.json")),
        );
    }
    for path in files {
        assert_eq!(issues(&path), Vec::<Vec<String>>::new(), "{path}");
        assert_eq!(schema_accepts(&shipped_text(&path), &schemas), Some(true), "{path}");
    }
}
