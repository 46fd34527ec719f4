//! Each layer of the red lines alone: what the schema refuses without the engine, and the engine without the schema.

use countersign_canon::{Issues, Json};
use countersign_intent::{execution_forbidden, intent_red_lines, outcome_red_lines, plan_lineage};

use crate::support::shipped_text;

fn fixture(name: &str) -> String {
    shipped_text(&format!("fixtures/evaluator/invalid/{name}.json"))
}

/// Whether the schema alone refuses a fixture.
fn schema_refuses(schema: &str, name: &str) -> bool {
    let schema = shipped_text(&format!("schemas/{schema}.schema.json"));
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    !schema.is_valid(&serde_json::from_str(&fixture(name)).unwrap())
}

/// The codes that the rules alone find, without types, schema or registry.
fn rules_find(name: &str) -> Vec<String> {
    let text = fixture(name);
    let json = Json::parse(text.as_bytes()).unwrap();
    let mut issues = Issues::new();
    if name.starts_with("intent_") {
        issues = intent_red_lines(&json, None);
    } else {
        issues.extend(outcome_red_lines(&json).into_sorted());
        issues.extend(execution_forbidden(&json));
    }
    if name.starts_with("plan_") {
        issues.extend(plan_lineage(&json).into_sorted());
    }
    let mut codes: Vec<String> = issues.into_sorted().iter().map(|issue| issue.code.to_string()).collect();
    codes.dedup();
    codes
}

mod rl_e1 {
    use super::{rules_find, schema_refuses};

    #[test]
    fn the_schema_alone_refuses() {
        assert!(schema_refuses("intent_evaluation_result", "eval_has_execute_field"));
        assert!(schema_refuses("intent_evaluation_result", "eval_execution_allowed"));
    }

    #[test]
    fn the_rules_alone_refuse_also_what_the_schema_cannot_see() {
        assert_eq!(rules_find("eval_has_execute_field"), ["RL_E1_EXECUTION_PAYLOAD"]);
        assert_eq!(rules_find("eval_execution_allowed"), ["RL_E1_EXECUTION_NOT_FORBIDDEN"]);
        assert_eq!(rules_find("eval_output_has_subprocess"), ["RL_E1_EXECUTION_PAYLOAD"]);
        assert!(!schema_refuses("intent_evaluation_result", "eval_output_has_subprocess"));
    }
}

mod rl_e2 {
    use super::{rules_find, schema_refuses};

    #[test]
    fn the_schema_alone_refuses() {
        for name in ["plan_no_derived_from", "plan_override_without_supersedes", "plan_reject_with_result"] {
            assert!(schema_refuses("intent_merge_plan", name), "{name}");
        }
    }

    #[test]
    fn the_rules_alone_refuse_also_what_the_schema_cannot_see() {
        assert_eq!(rules_find("plan_no_derived_from"), ["RL_E2_NO_DERIVED_FROM"]);
        assert_eq!(rules_find("plan_override_without_supersedes"), ["RL_E2_NO_SUPERSEDES"]);
        assert_eq!(rules_find("plan_lineage_mismatch"), ["RL_E2_LINEAGE_MISMATCH"]);
        assert!(!schema_refuses("intent_merge_plan", "plan_lineage_mismatch"));
    }
}

mod inherited {
    use super::{rules_find, schema_refuses};

    #[test]
    fn i1_to_i5_are_refused_by_the_schema_alone() {
        let fixtures = [
            "intent_has_execute_field",
            "intent_full_auto_with_questions",
            "intent_high_risk_full_auto",
            "intent_risk_understated",
            "intent_command_without_evidence",
            "intent_free_text_evidence",
            "intent_missing_constraints",
            "intent_write_without_review",
        ];
        for name in fixtures {
            assert!(schema_refuses("intent", name), "{name}");
        }
    }

    #[test]
    fn i1_to_i5_are_refused_by_the_rules_alone() {
        let fixtures = [
            ("intent_has_execute_field", "I1_EXECUTION_PAYLOAD"),
            ("intent_payload_in_metadata", "I1_EXECUTION_PAYLOAD"),
            ("intent_full_auto_with_questions", "I2_FULL_AUTO_ASKS"),
            ("intent_high_risk_full_auto", "I3_HIGH_RISK_FULL_AUTO"),
            ("intent_risk_understated", "I3_RISK_UNDERSTATED"),
            ("intent_command_without_evidence", "I4_COMMAND_WITHOUT_EVIDENCE"),
            ("intent_free_text_evidence", "I4_NOT_EVIDENCE"),
            ("intent_missing_constraints", "I5_CONSTRAINT_MISSING"),
            ("intent_write_without_review", "WRITE_WITHOUT_REVIEW"),
        ];
        for (name, code) in fixtures {
            assert_eq!(rules_find(name), [code], "{name}");
        }
        assert!(!schema_refuses("intent", "intent_payload_in_metadata"));
        assert!(!schema_refuses("intent", "intent_unknown_command"), "the look-up is the engine's alone");
    }
}

mod frozen {
    use countersign_intent::{intent_codes, wire::SchemaVersion};

    /// The red lines of 0.9.3. Whoever adds, drops or renames one gives the documents a new version first.
    const RED_LINES: [&str; 15] = [
        "I1_EXECUTION_PAYLOAD",
        "I2_FULL_AUTO_ASKS",
        "I3_HIGH_RISK_FULL_AUTO",
        "I3_RISK_UNDERSTATED",
        "I4_COMMAND_WITHOUT_EVIDENCE",
        "I4_NOT_EVIDENCE",
        "I5_CONSTRAINT_MISSING",
        "I5_UNKNOWN_AGENT",
        "I5_UNKNOWN_COMMAND",
        "I5_UNKNOWN_WORKFLOW",
        "RL_E1_EXECUTION_NOT_FORBIDDEN",
        "RL_E1_EXECUTION_PAYLOAD",
        "RL_E2_LINEAGE_MISMATCH",
        "RL_E2_NO_DERIVED_FROM",
        "RL_E2_NO_SUPERSEDES",
    ];

    #[test]
    fn the_red_lines_are_those_of_the_documents_version() {
        let versions: Vec<&str> = SchemaVersion::ALL.iter().map(|version| version.as_str()).collect();
        assert_eq!(versions, ["0.9.3"]);
        let is_red_line = |code: &str| {
            code.starts_with("RL_") || code.starts_with(['I']) && code.as_bytes().get(2) == Some(&b'_')
        };
        let mut found: Vec<&str> = intent_codes::ALL.iter().map(|entry| entry.code.as_str()).collect();
        found.retain(|code| is_red_line(code));
        found.sort_unstable();
        assert_eq!(found, RED_LINES);
    }
}
