//! From a set of intents to a plan: one lineage all the way, and no plan against the evaluation.

use countersign_canon::Json;

use super::shipped;
use crate::support::{Ran, Sandbox, shipped_text};

const OVERRIDE: &str = "examples/intents/evaluations/merge_override";

fn plan(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    sandbox
        .run(&[&["dry-run", "plan", "--out", "plans", "--now", "2026-02-12T09:10:00Z"], arguments].concat())
}

#[track_caller]
fn refused(ran: &Ran, code: &str) {
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    assert!(ran.stdout().contains(&format!("\"code\": \"{code}\"")), "{}", ran.screen());
}

#[test]
fn evaluate_then_plan_gives_one_lineage() {
    let sandbox = Sandbox::new();
    let set = shipped(&format!("{OVERRIDE}/intent_set_merge_override.json"));
    assert_eq!(sandbox.run(&["intent", "evaluate", &set, "--out", "decided"]).exit, Some(0));
    let documents = ["decided/merge_plan.json", "--evaluation", "decided/evaluation_result.json"];
    let ran = plan(&sandbox, &documents);
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    let report = Json::parse(&ran.stdout).unwrap();
    let id = report.get("result_id").unwrap().as_str().unwrap();
    let result = sandbox.read(&format!("plans/{id}.json")).unwrap();
    let result = Json::parse(result.as_bytes()).unwrap().into_owned();
    let text = |name: &str| sandbox.read(name).unwrap();
    let (merge, evaluation) = (text("decided/merge_plan.json"), text("decided/evaluation_result.json"));
    let (merge, evaluation) =
        (Json::parse(merge.as_bytes()).unwrap(), Json::parse(evaluation.as_bytes()).unwrap());
    let intent = merge.get("result_intent").unwrap();
    let sources = result.get("lineage").unwrap().get("derived_from").unwrap().as_array().unwrap();
    let row = |source: &Json<'_>| {
        ["type", "id", "checksum"].map(|key| source.get(key).unwrap().as_str().unwrap().to_owned())
    };
    let rows: Vec<[String; 3]> = sources.iter().map(row).collect();
    let of = |json: &Json<'_>, key: &str| json.get(key).unwrap().as_str().unwrap().to_owned();
    assert_eq!(rows[0], ["intent".into(), of(intent, "id"), of(intent.get("audit").unwrap(), "checksum")]);
    assert_eq!(rows[1], ["merge_plan".into(), of(&merge, "id"), of(&merge, "checksum")]);
    assert_eq!(rows[2], ["evaluation_result".into(), of(&evaluation, "id"), of(&evaluation, "checksum")]);
    assert_eq!(result.get("graph").unwrap().get("lineage"), result.get("lineage"));
    let decision = result.get("graph").unwrap().get("nodes").unwrap().as_array().unwrap()[0].clone();
    assert_eq!(of(&decision, "label"), "intent_api_v2 is kept, intent_api_v1 is superseded");
    let file = format!("plans/{}.json", of(&result, "result_id"));
    let held = sandbox.run(&["dry-run", "validate", &file, "--intent", "decided/merge_plan.json"]);
    refused(&held, "DRY_RUN_SOURCE_MISSING");
}

#[test]
fn an_intent_that_was_changed_after_its_evaluation_is_refused() {
    let sandbox = Sandbox::new();
    let folder = "examples/intents/evaluations/scenario_b_clear_priority";
    let evaluation = shipped(&format!("{folder}/evaluation_result.json"));
    let winner = shipped_text(&format!("{folder}/intent_refactor_api_v2.json"));
    sandbox.write("intent_refactor_api_v2.json", &winner);
    let documents = ["intent_refactor_api_v2.json", "--evaluation", &evaluation];
    assert_eq!(plan(&sandbox, &documents).exit, Some(0));
    let changed = winner.replace("\"title\": \"", "\"title\": \"Not ");
    assert_ne!(changed, winner);
    sandbox.write("intent_refactor_api_v2.json", &changed);
    assert_eq!(sandbox.run(&["intent", "seal", "intent_refactor_api_v2.json", "--in-place"]).exit, Some(0));
    refused(&plan(&sandbox, &documents), "DRY_RUN_EVALUATION_FOREIGN");
}

#[test]
fn an_evaluation_that_decides_otherwise_or_about_others_is_refused() {
    let sandbox = Sandbox::new();
    let evaluation = shipped(&format!("{OVERRIDE}/evaluation_result.json"));
    let lost = shipped(&format!("{OVERRIDE}/intent_api_v1.json"));
    refused(&plan(&sandbox, &[&lost, "--evaluation", &evaluation]), "DRY_RUN_EVALUATION_CLOSED");
    let kept = shipped(&format!("{OVERRIDE}/intent_api_v2.json"));
    assert_eq!(plan(&sandbox, &[&kept, "--evaluation", &evaluation]).exit, Some(0));
    let other = shipped("examples/dry-run/docs_change/intent_explain_refunds.json");
    refused(&plan(&sandbox, &[&other, "--evaluation", &evaluation]), "DRY_RUN_EVALUATION_FOREIGN");
    let rejected = "examples/intents/evaluations/scenario_c_no_priority";
    let reject = shipped(&format!("{rejected}/evaluation_result.json"));
    refused(&plan(&sandbox, &[&kept, "--evaluation", &reject]), "DRY_RUN_EVALUATION_CLOSED");
    refused(&plan(&sandbox, &[&shipped(&format!("{rejected}/merge_plan.json"))]), "DRY_RUN_NO_RESULT_INTENT");
}

#[test]
fn an_intent_that_is_invalid_closed_or_misnamed_is_not_planned() {
    let sandbox = Sandbox::new();
    let text = shipped_text("examples/dry-run/docs_change/intent_explain_refunds.json");
    let put = |name: &str, from: &str, to: &str| {
        sandbox.write(name, text.replace(from, to));
        assert_eq!(sandbox.run(&["intent", "seal", name, "--in-place"]).exit, Some(0));
    };
    sandbox.write("changed.json", text.replace("handbook", "notebook"));
    refused(&plan(&sandbox, &["changed.json"]), "CHECKSUM_MISMATCH");
    put("closed.json", "\"status\": \"approved\"", "\"status\": \"superseded\"");
    refused(&plan(&sandbox, &["closed.json"]), "INTENT_NOT_OPEN");
    put("intent_other.json", "xxx", "xxx");
    refused(&plan(&sandbox, &["intent_other.json"]), "FILE_ID_MISMATCH");
    put("unknown.json", "cmd_docs_update_index", "cmd_docs_update_indexx");
    refused(&plan(&sandbox, &["unknown.json"]), "I5_UNKNOWN_COMMAND");
    assert_eq!(plan(&sandbox, &["unknown.json", "--registry", "none"]).exit, Some(0));
    put("tight.json", "\"max_files\": 3", "\"max_files\": 1");
    refused(&plan(&sandbox, &["tight.json"]), "DRY_RUN_OVER_BUDGET");
    let allowed = plan(&sandbox, &["tight.json", "--allow-over-budget"]);
    assert_eq!(allowed.exit, Some(0));
    assert!(allowed.stderr().contains("OVER_BUDGET_ALLOWED"), "{}", allowed.stderr());
}

#[test]
fn without_a_registry_the_plan_says_so() {
    let sandbox = Sandbox::new();
    let intent = shipped("examples/dry-run/docs_change/intent_explain_refunds.json");
    let ran = plan(&sandbox, &[&intent, "--registry", "none"]);
    assert!(ran.stderr().contains("REGISTRY_SKIPPED"), "{}", ran.screen());
}
