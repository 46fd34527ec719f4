//! Every shipped evaluation, run again and compared byte for byte.

use super::EVALUATIONS;
use crate::support::{Ran, Sandbox, repository, shipped_text, shipped_under};

/// The scenarios A to D of the authoring guide, its conflict examples and its merge examples, by exit code.
const EXPECTED: &[(&str, i32, &str)] = &[
    ("api_refactor_batch", 0, "merge_union"),
    ("conflict_constraint", 3, "reject"),
    ("conflict_effect", 3, "reject"),
    ("conflict_order", 0, "merge_union"),
    ("conflict_resource", 3, "reject"),
    ("conflict_sequence", 3, "reject"),
    ("merge_override", 0, "override_by_priority"),
    ("merge_reject", 3, "reject"),
    ("merge_union", 0, "merge_union"),
    ("scenario_a_read_only", 0, "merge_union"),
    ("scenario_b_clear_priority", 0, "override_by_priority"),
    ("scenario_c_no_priority", 3, "reject"),
    ("scenario_d_dependency", 0, "merge_union"),
];

fn evaluate(sandbox: &Sandbox, name: &str, more: &[&str]) -> Ran {
    let set = repository().join(format!("{EVALUATIONS}/{name}/intent_set_{name}.json"));
    let arguments = [&["intent", "evaluate", set.to_str().unwrap(), "--out", "out"], more].concat();
    sandbox.run(&arguments)
}

/// What a run wrote, against what is shipped; a file on one side only is a difference too.
#[track_caller]
fn assert_written(sandbox: &Sandbox, folder: &str) {
    for file in ["evaluation_result.json", "merge_plan.json", "question_pack.json"] {
        let written = sandbox.read(&format!("out/{file}"));
        let shipped = shipped_under(folder).iter().any(|path| path.ends_with(file));
        let shipped = shipped.then(|| shipped_text(&format!("{folder}/{file}")));
        assert!(written == shipped, "{folder}/{file} is not what the engine says");
    }
}

#[test]
fn every_example_comes_out_as_shipped() {
    let shipped = shipped_under(EVALUATIONS);
    let listed: Vec<String> = EXPECTED.iter().map(|(name, _, _)| format!("{EVALUATIONS}/{name}")).collect();
    assert_eq!(shipped, listed);
    for (name, exit, strategy) in EXPECTED {
        let sandbox = Sandbox::new();
        let ran = evaluate(&sandbox, name, &[]);
        assert_eq!(ran.exit, Some(*exit), "{name}: {}", ran.stderr());
        assert!(ran.stdout().contains(&format!("\"strategy\": \"{strategy}\"")), "{name}");
        assert_written(&sandbox, &format!("{EVALUATIONS}/{name}"));
    }
}

#[test]
fn every_answered_example_comes_out_as_shipped() {
    for (name, exit) in [("conflict_sequence", 0), ("merge_reject", 3), ("scenario_c_no_priority", 0)] {
        let sandbox = Sandbox::new();
        let folder = format!("{EVALUATIONS}/{name}/answered");
        let answers = repository().join(format!("{folder}/answer_pack.json"));
        let ran = evaluate(&sandbox, name, &["--answers", answers.to_str().unwrap()]);
        assert_eq!(ran.exit, Some(exit), "{name}: {}", ran.stderr());
        assert!(
            ran.stdout().contains(&format!("\"id\": \"apack_{name}\"")),
            "{name}: the answer is in the lineage"
        );
        assert_written(&sandbox, &folder);
    }
}

#[test]
fn explanations_and_graphs_come_out_as_shipped() {
    for (name, _, _) in EXPECTED {
        let folder = format!("{EVALUATIONS}/{name}");
        let result = repository().join(format!("{folder}/evaluation_result.json"));
        for (format, ending) in [("text", "txt"), ("markdown", "md"), ("svg", "svg"), ("json", "json")] {
            let ran =
                Sandbox::new().run(&["intent", "explain", result.to_str().unwrap(), "--format", format]);
            assert_eq!(ran.stdout(), shipped_text(&format!("{folder}/explain.{ending}")), "{name}");
        }
        let set = repository().join(format!("{folder}/intent_set_{name}.json"));
        for format in ["dot", "svg"] {
            let ran = Sandbox::new().run(&["intent", "graph", set.to_str().unwrap(), "--format", format]);
            assert_eq!(ran.stdout(), shipped_text(&format!("{folder}/graph.{format}")), "{name}");
        }
    }
}

#[test]
fn every_shipped_document_is_valid() {
    for (name, _, _) in EXPECTED {
        let files = shipped_under(&format!("{EVALUATIONS}/{name}"));
        let documents =
            files.iter().filter(|path| path.ends_with(".json") && !path.ends_with("explain.json"));
        let documents: Vec<String> =
            documents.map(|path| repository().join(path).to_str().unwrap().to_owned()).collect();
        let mut arguments = vec!["intent", "validate"];
        arguments.extend(documents.iter().map(String::as_str));
        let ran = Sandbox::new().run(&arguments);
        assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    }
}

#[test]
fn permuting_the_ids_changes_no_byte() {
    let name = "api_refactor_batch";
    let set = shipped_text(&format!("{EVALUATIONS}/{name}/intent_set_{name}.json"));
    let (first, last) = ("\"intent_add_api_logging\"", "\"intent_update_api_tests\"");
    let permuted = set.replace(first, "\"x\"").replace(last, first).replace("\"x\"", last);
    let sandbox = Sandbox::new();
    sandbox.write("set.json", &permuted);
    let folder = repository().join(format!("{EVALUATIONS}/{name}"));
    let ran = sandbox.run(&[
        "intent",
        "evaluate",
        "set.json",
        "--intents",
        folder.to_str().unwrap(),
        "--out",
        "out",
    ]);
    assert_eq!(ran.exit, Some(0), "{}", ran.stderr());
    assert_ne!(set, permuted);
    assert_written(&sandbox, &format!("{EVALUATIONS}/{name}"));
}

#[test]
fn without_a_registry_the_outcome_says_so() {
    let name = "scenario_a_read_only";
    let sandbox = Sandbox::new();
    let ran = evaluate(&sandbox, name, &["--registry", "none"]);
    assert_eq!(ran.exit, Some(0));
    for file in ["out/evaluation_result.json", "out/merge_plan.json"] {
        assert!(sandbox.read(file).unwrap().contains("\"lookup\": \"skipped\""), "{file}");
    }
    assert!(ran.stderr().contains("No registry was used"), "{}", ran.stderr());
}

#[test]
fn diff_shows_fields_and_seal_makes_them_agree_again() {
    let original = shipped_text(&format!("{EVALUATIONS}/merge_union/intent_analyze_security.json"));
    let sandbox = Sandbox::new();
    sandbox.write("a.json", &original).write("b.json", original.replace("Look for secrets", "Look for keys"));
    let ran = sandbox.run(&["intent", "diff", "a.json", "b.json"]);
    insta::assert_snapshot!(ran.screen(), @r#"
    exit 1
    --- stdout
    /planned_commands/0/intent
      - "Look for secrets"
      + "Look for keys"
    --- stderr
    "#);
    assert_eq!(sandbox.run(&["intent", "validate", "b.json"]).exit, Some(1));
    assert_eq!(sandbox.run(&["intent", "seal", "b.json", "--in-place"]).exit, Some(0));
    assert_eq!(sandbox.run(&["intent", "validate", "b.json"]).exit, Some(0));
    assert_eq!(sandbox.run(&["intent", "diff", "a.json", "a.json"]).exit, Some(0));
}

#[test]
fn overlaps_finds_what_evaluate_finds_between_pairs() {
    let folder = repository().join(format!("{EVALUATIONS}/conflict_effect"));
    let ran = Sandbox::new().run(&["intent", "overlaps", folder.to_str().unwrap()]);
    assert_eq!(ran.exit, Some(1));
    assert_eq!(ran.stderr(), "2 intents, 4 conflicts\n");
}

#[test]
fn one_name_in_two_projects_is_two_things() {
    let folder = format!("{EVALUATIONS}/conflict_resource");
    let sandbox = Sandbox::new();
    for (name, project) in [("intent_delete_routes", "shop"), ("intent_write_routes", "mall")] {
        let text = shipped_text(&format!("{folder}/{name}.json"));
        let text = text.replace("\"project_id\": \"shop\"", &format!("\"project_id\": \"{project}\""));
        sandbox.write(&format!("{name}.json"), text);
        assert_eq!(sandbox.run(&["intent", "seal", &format!("{name}.json"), "--in-place"]).exit, Some(0));
    }
    let ran = sandbox.run(&["intent", "overlaps", "."]);
    assert_eq!((ran.exit, ran.stderr()), (Some(0), "2 intents, 0 conflicts\n"));
}
