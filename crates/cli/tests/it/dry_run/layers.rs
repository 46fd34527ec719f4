//! Each layer of DE1 to DE6 alone: what the schema refuses without the engine, and the rules without schema and types.

use countersign_canon::Json;
use countersign_dryrun::{intent_red_lines_of, result_red_lines};
use countersign_intent::Intent;

use super::shipped;
use crate::support::{Sandbox, shipped_text};

fn fixture(name: &str) -> String {
    shipped_text(&format!("fixtures/dry-run/invalid/{name}.json"))
}

/// Whether the schema alone refuses a fixture.
fn schema_refuses(name: &str) -> bool {
    let schema = shipped_text("schemas/dry_execution_result.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    !schema.is_valid(&serde_json::from_str(&fixture(name)).unwrap())
}

const INTENT: &str = "examples/dry-run/api_feature/intent_add_order_search.json";

/// The codes that the rules alone find, without types and schema.
fn rules_find(name: &str) -> Vec<String> {
    let text = fixture(name);
    let json = Json::parse(text.as_bytes()).unwrap();
    let intent = Intent::load(shipped_text(INTENT).as_bytes(), None).unwrap();
    let mut issues = result_red_lines(&json);
    issues.extend(intent_red_lines_of(&json, &intent).into_sorted());
    let mut codes: Vec<String> = issues.into_sorted().iter().map(|issue| issue.code.to_string()).collect();
    codes.sort();
    codes.dedup();
    codes
}

/// What the program says about a fixture, held against its intent.
#[track_caller]
fn program_refuses(name: &str, code: &str) {
    let file = shipped(&format!("fixtures/dry-run/invalid/{name}.json"));
    let ran = Sandbox::new().run(&["dry-run", "validate", &file, "--intent", &shipped(INTENT)]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    assert!(ran.stdout().contains(&format!("\"code\": \"{code}\"")), "{}", ran.screen());
}

mod de1 {
    use super::*;
    use crate::support::run_in_shell;

    #[test]
    fn the_schema_alone_refuses() {
        assert!(schema_refuses("result_contains_execution_field"));
        assert!(schema_refuses("result_not_dry_run"));
    }

    #[test]
    fn the_rules_alone_refuse() {
        assert_eq!(rules_find("result_contains_execution_field"), ["DE1_EXECUTION_PAYLOAD"]);
        assert_eq!(rules_find("result_not_dry_run"), ["DE1_NOT_DRY_RUN"]);
        program_refuses("result_contains_execution_field", "DE1_EXECUTION_PAYLOAD");
    }

    /// The system sees one process, which is the program itself, and no socket.
    #[test]
    fn planning_starts_no_process_and_opens_no_socket() {
        if run_in_shell(std::path::Path::new("."), "command -v strace").is_empty() {
            crate::support::skip("planning_starts_no_process_and_opens_no_socket", "strace is not installed");
            return;
        }
        let sandbox = Sandbox::new();
        let calls = "execve,execveat,fork,vfork,clone,clone3,socket,connect,bind,sendto";
        let command = format!(
            "strace -f -o trace -e trace={calls} countersign dry-run plan {} --out plans; cat trace",
            shipped(INTENT)
        );
        let shown = run_in_shell(sandbox.path(), &command);
        let trace = sandbox.read("trace").unwrap();
        assert!(shown.contains("\"valid\": true"), "{shown}");
        let calls: Vec<&str> = trace.lines().filter(|line| line.contains('(')).collect();
        assert_eq!(calls.len(), 1, "{trace}");
        assert!(calls[0].contains("execve(") && calls[0].contains("countersign"), "{trace}");
    }
}

mod de2 {
    use super::*;

    #[test]
    fn the_schema_alone_refuses() {
        assert!(schema_refuses("writes_not_excluded"));
    }

    #[test]
    fn the_rules_alone_refuse() {
        assert_eq!(rules_find("writes_not_excluded"), ["DE2_WRITE_NOT_EXCLUDED"]);
        program_refuses("writes_not_excluded", "DE2_WRITE_NOT_EXCLUDED");
    }
}

mod de3 {
    use super::*;

    #[test]
    fn the_schema_alone_refuses() {
        assert!(schema_refuses("fabrication_not_excluded"));
        assert!(schema_refuses("patch_plan_fabricated_paths"));
    }

    #[test]
    fn the_rules_alone_refuse_also_what_the_schema_cannot_see() {
        assert_eq!(rules_find("fabrication_not_excluded"), ["DE3_FABRICATION_NOT_EXCLUDED"]);
        assert_eq!(rules_find("patch_plan_fabricated_paths"), ["DE3_PATH_NOT_IN_INTENT"]);
        assert_eq!(rules_find("patch_plan_unnamed_path"), ["DE3_PATH_NOT_IN_INTENT"]);
        assert!(
            !schema_refuses("patch_plan_unnamed_path"),
            "that a path is a longer one is the engine's to see"
        );
        program_refuses("patch_plan_unnamed_path", "DE3_PATH_NOT_IN_INTENT");
    }
}

mod de4 {
    use super::*;

    #[test]
    fn the_schema_alone_refuses() {
        assert!(schema_refuses("missing_evidence_refs"));
        assert!(schema_refuses("free_text_evidence"));
    }

    #[test]
    fn the_rules_alone_refuse() {
        assert_eq!(rules_find("missing_evidence_refs"), ["DE4_NO_EVIDENCE"]);
        assert_eq!(rules_find("free_text_evidence"), ["DE4_NOT_EVIDENCE"]);
        program_refuses("missing_evidence_refs", "DE4_NO_EVIDENCE");
    }
}

mod de5 {
    use super::*;

    #[test]
    fn the_schema_alone_refuses() {
        assert!(schema_refuses("high_risk_no_review"));
    }

    #[test]
    fn the_rules_alone_refuse() {
        assert_eq!(rules_find("high_risk_no_review"), ["DE5_HIGH_RISK_NO_REVIEW"]);
        program_refuses("high_risk_no_review", "DE5_HIGH_RISK_NO_REVIEW");
    }

    #[test]
    fn a_risky_intent_that_nobody_reviews_is_not_planned() {
        let sandbox = Sandbox::new();
        let intent = shipped("fixtures/dry-run/invalid/intent_high_risk_no_review.json");
        assert_eq!(
            sandbox.run(&["intent", "validate", &intent]).exit,
            Some(0),
            "as an intent it is in order"
        );
        let ran = sandbox.run(&["dry-run", "plan", &intent, "--out", "plans"]);
        assert_eq!(ran.exit, Some(1), "{}", ran.screen());
        assert!(ran.stdout().contains("DE5_HIGH_RISK_NO_REVIEW"), "{}", ran.screen());
        assert_eq!(sandbox.run(&["dry-run", "explain", "plans/x.json"]).exit, Some(2), "nothing was written");
    }
}

mod de6 {
    use super::*;

    #[test]
    fn the_schema_alone_refuses() {
        assert!(schema_refuses("missing_checksum_lineage"));
    }

    #[test]
    fn the_rules_alone_refuse() {
        assert_eq!(rules_find("missing_checksum_lineage"), ["DE6_CHECKSUM_MISSING", "DE6_LINEAGE_MISSING"]);
        program_refuses("missing_checksum_lineage", "DE6_CHECKSUM_MISSING");
    }

    #[test]
    fn a_changed_value_is_seen_at_every_level() {
        let good = shipped_text("examples/dry-run/api_feature/result.json");
        let sandbox = Sandbox::new();
        sandbox.write("changed.json", good.replacen("Add the search endpoint", "Add the search endpoinT", 1));
        let ran = sandbox.run(&["dry-run", "validate", "changed.json"]);
        assert_eq!(
            ran.stdout().matches("DE6_CHECKSUM_MISMATCH").count(),
            2,
            "graph and result: {}",
            ran.screen()
        );
    }
}
