//! Every shipped example, planned and explained again and compared byte for byte.

use countersign_canon::Json;

use super::EXAMPLES;
use crate::support::{Sandbox, repository, shipped_text, shipped_under};

/// What the `inputs.json` of an example names: arguments for `plan`, and the same for `validate`.
fn inputs(folder: &str) -> (String, Vec<String>, String) {
    let text = shipped_text(&format!("{folder}/inputs.json"));
    let json = Json::parse(text.as_bytes()).unwrap();
    let named = |key: &str| json.get(key).and_then(Json::as_str);
    let path = |name: &str| repository().join(folder).join(name).to_str().unwrap().to_owned();
    let evaluation = named("evaluation").map(|name| vec!["--evaluation".to_owned(), path(name)]);
    (path(named("intent").unwrap()), evaluation.unwrap_or_default(), named("now").unwrap().to_owned())
}

#[test]
fn every_example_comes_out_as_shipped() {
    let examples = shipped_under(EXAMPLES);
    assert!(examples.len() >= 7);
    for folder in examples {
        let (intent, evaluation, now) = inputs(&folder);
        let evaluation: Vec<&str> = evaluation.iter().map(String::as_str).collect();
        let sandbox = Sandbox::new();
        let planned = ["dry-run", "plan", &intent, "--out", "out", "--now", &now];
        let ran = sandbox.run(&[planned.as_slice(), &evaluation].concat());
        assert_eq!(ran.exit, Some(0), "{folder}: {}", ran.stderr());
        let result = shipped_text(&format!("{folder}/result.json"));
        let json = Json::parse(result.as_bytes()).unwrap();
        let file = format!("out/{}.json", json.get("result_id").unwrap().as_str().unwrap());
        assert!(
            sandbox.read(&file).as_ref() == Some(&result),
            "{folder}/result.json is not what the engine says"
        );
        assert_eq!(ran.stderr(), shipped_text(&format!("{folder}/explain.txt")));
        let held = ["dry-run", "validate", &file, "--intent", &intent];
        let ran = sandbox.run(&[held.as_slice(), &evaluation].concat());
        assert_eq!(ran.exit, Some(0), "{folder}: {}", ran.screen());
        for (format, name) in [
            ("text", "explain.txt"),
            ("markdown", "explain.md"),
            ("json", "explain.json"),
            ("svg", "graph.svg"),
        ] {
            let ran = sandbox.run(&["dry-run", "explain", &file, "--format", format]);
            assert_eq!(ran.stdout(), shipped_text(&format!("{folder}/{name}")), "{folder}");
        }
    }
}

/// The second opinion on schemas accepts what is shipped, whole and part by part.
#[test]
fn every_result_is_accepted_by_the_schemas() {
    let schema = |name: &str| {
        let text = shipped_text(&format!("schemas/{name}.schema.json"));
        jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
    };
    let whole = schema("dry_execution_result");
    let parts = [
        ("graph", schema("execution_graph")),
        ("patch_plan", schema("patch_plan")),
        ("commit_plan", schema("commit_plan")),
        ("review_pack_stub", schema("review_pack_stub")),
    ];
    for folder in shipped_under(EXAMPLES) {
        let text = shipped_text(&format!("{folder}/result.json"));
        let result: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(whole.is_valid(&result), "{folder}");
        for (key, schema) in &parts {
            assert!(schema.is_valid(result.get(key).unwrap()), "{folder}/{key}");
        }
    }
}

#[test]
fn a_read_only_intent_plans_no_file_and_no_commit() {
    let text = shipped_text(&format!("{EXAMPLES}/read_only_analysis/result.json"));
    let json = Json::parse(text.as_bytes()).unwrap();
    let empty =
        |part: &str, key: &str| json.get(part).unwrap().get(key).unwrap().as_array().unwrap().is_empty();
    assert!(
        empty("patch_plan", "files") && empty("patch_plan", "unknowns") && empty("commit_plan", "commits")
    );
}
