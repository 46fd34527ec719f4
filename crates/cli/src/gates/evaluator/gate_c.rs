//! Gate C: every invalid fixture is refused, and for the reason it was made for.

use countersign_intent::validate_document;

use super::{Engine, Gate, examples::Examples};

pub(super) const GATE: Gate =
    Gate { letter: "C", what: "invalid fixtures refused for their own reason", check };

/// Each fixture, the code it is made for, and the place.
pub(super) const FIXTURES: &[(&str, &str, &str)] = &[
    ("eval_has_execute_field", "RL_E1_EXECUTION_PAYLOAD", "/evaluation/merge_plan/execute"),
    ("eval_invalid_conflict_type", "EVALUATION_INVALID", "/evaluation/conflicts/0/type"),
    ("eval_missing_checksum", "EVALUATION_INVALID", ""),
    ("eval_missing_evidence", "EVALUATION_INVALID", "/evaluation/conflicts/0/evidence_refs"),
    ("eval_no_lineage", "EVALUATION_INVALID", ""),
    ("eval_output_has_subprocess", "RL_E1_EXECUTION_PAYLOAD", "/evaluation/merge_plan/operations/0/evidence"),
    ("eval_reject_asks_nothing", "REJECT_WITHOUT_QUESTION", "/requires_questions"),
    ("eval_execution_allowed", "RL_E1_EXECUTION_NOT_FORBIDDEN", "/constraints/execution"),
    ("intent_command_without_evidence", "I4_COMMAND_WITHOUT_EVIDENCE", "/planned_commands/0/evidence_refs"),
    ("intent_free_text_evidence", "I4_NOT_EVIDENCE", "/planned_commands/0/evidence_refs/0"),
    ("intent_full_auto_with_questions", "I2_FULL_AUTO_ASKS", "/interaction/question_budget"),
    ("intent_has_execute_field", "I1_EXECUTION_PAYLOAD", "/execute"),
    ("intent_payload_in_metadata", "I1_EXECUTION_PAYLOAD", "/metadata/notes/0/0/Command-Line"),
    ("intent_high_risk_full_auto", "I3_HIGH_RISK_FULL_AUTO", "/interaction/mode"),
    ("intent_missing_constraints", "I5_CONSTRAINT_MISSING", "/constraints/execution"),
    ("intent_risk_understated", "I3_RISK_UNDERSTATED", "/risk/overall"),
    ("intent_unknown_command", "I5_UNKNOWN_COMMAND", "/planned_commands/0/command_id"),
    ("intent_write_without_review", "WRITE_WITHOUT_REVIEW", "/risk/requires_review"),
    ("plan_no_derived_from", "RL_E2_NO_DERIVED_FROM", "/result_intent/lineage/derived_from"),
    ("plan_override_without_supersedes", "RL_E2_NO_SUPERSEDES", "/result_intent/lineage/supersedes"),
    ("plan_lineage_mismatch", "RL_E2_LINEAGE_MISMATCH", "/lineage/derived_from"),
    ("plan_reject_with_result", "PLAN_RESULT_UNEXPECTED", "/result_intent"),
];

fn check(examples: &Examples, _: Engine) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, code, pointer) in FIXTURES {
        let Some(bytes) = examples.invalid.get(*name) else {
            complaints.push(format!("{name}: is missing"));
            continue;
        };
        match validate_document(bytes, None, examples.registry.as_ref()) {
            Ok(_) => complaints.push(format!("{name}: is accepted")),
            Err(issues) => {
                let is_found = issues
                    .iter()
                    .any(|issue| issue.code.as_str() == *code && issue.pointer.to_string() == *pointer);
                if !is_found {
                    complaints.push(format!("{name}: is refused, but not with {code} at `{pointer}`"));
                }
            }
        }
    }
    let unlisted =
        examples.invalid.keys().filter(|name| !FIXTURES.iter().any(|(listed, _, _)| listed == name));
    complaints.extend(unlisted.map(|name| format!("{name}: nobody says why it should be refused")));
    complaints
}
