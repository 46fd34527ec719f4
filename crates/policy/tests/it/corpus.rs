//! Effect: files. Every policy of the corpus: accepted, or refused for exactly its own reason, by parser and schema.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use countersign_canon::schema_document;
use countersign_policy::{Policy, PolicyDocument, codes};

/// Faults that a schema cannot say, or does not see because it is not given the text.
const BEYOND_A_SCHEMA: [&str; 8] = [
    "cap_2001_nodes",
    "cap_depth_17",
    "example_bad_time",
    "example_does_not_match",
    "example_matches",
    "json_duplicate_key",
    "json_duplicate_key_by_escape",
    "rule_id_repeated",
];

fn corpus(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/policy").join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
}

fn name(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

fn schema_accepts(validator: &jsonschema::Validator, bytes: &[u8]) -> Option<bool> {
    let document: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    Some(validator.is_valid(&document))
}

fn validator() -> jsonschema::Validator {
    let schema = schema_document::<PolicyDocument>("instruction_policy", "test").to_canonical();
    jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap()
}

#[test]
fn valid_policies_load_and_the_schema_agrees() {
    let validator = validator();
    for path in corpus("valid") {
        let bytes = fs::read(&path).unwrap();
        let policy = Policy::load(&bytes).unwrap_or_else(|issues| panic!("{}: {issues:?}", name(&path)));
        assert_eq!(schema_accepts(&validator, &bytes), Some(true), "{}", name(&path));
        // Written and read again it means the same.
        let again = Policy::load(policy.to_document().to_pretty().as_bytes()).unwrap();
        assert_eq!(again.hash(), policy.hash(), "{}", name(&path));
    }
}

#[test]
fn invalid_policies_are_refused_for_their_own_reason_with_place_and_hint() {
    let validator = validator();
    let files = corpus("invalid");
    assert!(files.len() >= 60);
    for path in files {
        let bytes = fs::read(&path).unwrap();
        let issues = Policy::load(&bytes).err().unwrap_or_else(|| panic!("{} loads", name(&path)));
        let found: String = issues
            .iter()
            .map(|issue| {
                let pointer = issue.pointer.to_string();
                let pointer = if pointer.is_empty() { "-" } else { &pointer };
                let cause = issue.cause.map_or("-", countersign_canon::Code::as_str);
                format!("{} {cause} {pointer}\n", issue.code)
            })
            .collect();
        let expected = fs::read_to_string(path.with_extension("expected")).unwrap();
        assert_eq!(found, expected, "{}", name(&path));
        assert!(issues.iter().all(|issue| issue.hint.is_some() && issue.offset.is_some()), "{}", name(&path));
        let offsets: Vec<_> = issues.iter().map(|issue| issue.offset).collect();
        assert!(offsets.is_sorted(), "{}: not in document order", name(&path));
        if !BEYOND_A_SCHEMA.contains(&name(&path)) {
            // What is not even JSON is refused by whoever feeds the schema.
            assert_ne!(schema_accepts(&validator, &bytes), Some(true), "{}", name(&path));
        }
    }
}

/// Nesting that would overflow a careless parser's stack, in every shape that nests.
#[test]
fn a_depth_of_a_hundred_thousand_is_refused_without_a_crash() {
    let frame = |when: String| {
        format!(
            r#"{{"schema":"odeu.instructions.v1","rules":[{{"rule_id":"r","rule_version":1,"priority":1,"kind":"allow","when":{when},"then":{{"effect":"allow_action"}},"message":"m","code":"C"}}]}}"#
        )
    };
    let depth = 100_000;
    let leaf = r#"{"atom":"session_active","args":[]}"#;
    let nested = [
        frame(format!("{}{leaf}{}", r#"{"op":"not","arg":"#.repeat(depth), "}".repeat(depth))),
        frame(format!("{}{leaf}{}", r#"{"op":"and","args":["#.repeat(depth), "]}".repeat(depth))),
        "[".repeat(depth),
        r#"{"a":"#.repeat(depth),
    ];
    for text in nested {
        let issues = Policy::load(text.as_bytes()).unwrap_err();
        assert_eq!(
            issues.iter().map(|issue| issue.code).collect::<Vec<_>>(),
            [codes::URM_POLICY_CAP_EXCEEDED]
        );
    }
}
