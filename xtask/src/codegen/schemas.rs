//! The JSON Schemas, from the types that read and write the documents.

use countersign_action::TableDocument;
use countersign_canon::{Json, Wire, schema_document};
use countersign_dryrun::wire::{CommitPlan, DryExecutionResult, ExecutionGraph, PatchPlan, ReviewPackStub};
use countersign_intent::wire::{
    AnswerPack, EvaluationDocument, IntentDocument, IntentSetDocument, MergePlanDocument, QuestionPack,
};
use countersign_ledger::{Event, ProofArtifact};
use countersign_policy::{
    AllowDocument, CaseFile, Context, LatticeDocument, PolicyDocument, ProbeFacts, TraceDocument,
};
use countersign_proof::Obligation;
use countersign_scan::{BoundariesFile, DeprecatedFile, InvariantsFile, Verdict};

/// Every schema: path from the root, contents.
pub(super) fn all() -> Vec<(String, String)> {
    let policy = schema::<PolicyDocument>("instruction_policy", "A policy, odeu.instructions.v1");
    // K5.1 names this place.
    let policy_again = ("spec/instruction_policy.schema.json".to_owned(), policy.1.clone());
    vec![
        policy,
        policy_again,
        schema::<Context>("policy_context", "The facts a decision is made from"),
        schema::<TraceDocument>("decision_trace", "How a decision came about, odeu.instruction-trace.v1"),
        schema::<LatticeDocument>("capability_lattice", "What each action needs, urm.capability.lattice.v1"),
        schema::<AllowDocument>("capability_allow", "Which role may what, urm.allow.v1"),
        schema::<ProbeFacts>("probe_facts", "What a client was found able to do"),
        schema::<CaseFile>("policy_cases", "Test cases for a policy, countersign.policy-cases@1"),
        schema::<DryExecutionResult>(
            "dry_execution_result",
            "What an intent would do, without doing it, 0.10.0",
        ),
        schema::<ExecutionGraph>("execution_graph", "The order of work of a dry run, 0.10.0"),
        schema::<PatchPlan>("patch_plan", "The files that a dry run plans, 0.10.0"),
        schema::<CommitPlan>("commit_plan", "The commits that a dry run plans, 0.10.0"),
        schema::<ReviewPackStub>("review_pack_stub", "What a reviewer of a dry run starts from, 0.10.0"),
        schema::<BoundariesFile>("scan_boundaries", "The rules of boundaries.yml"),
        schema::<InvariantsFile>("scan_invariants", "The rules of invariants.yml"),
        schema::<DeprecatedFile>("scan_deprecated", "The rules of deprecated.yml, which are not enforced"),
        schema::<Verdict>("scan_verdict", "The verdict of a scan, verdict.json"),
        schema::<TableDocument>("actions", "The table of actions, countersign.actions.v1"),
        schema::<Obligation>("proof_obligation", "What a policy must never decide, countersign.obligation@1"),
        schema::<ProofArtifact>("proof_artifact", "What was proved, by what, from what"),
        schema::<Event>("urm_event", "An event in its envelope, urm-events@1"),
        schema::<IntentDocument>("intent", "An execution intent, v0.9.1"),
        schema::<IntentSetDocument>("intent_set", "An intent set, v0.9.3"),
        schema::<EvaluationDocument>("intent_evaluation_result", "An intent evaluation result, v0.9.3"),
        schema::<MergePlanDocument>("intent_merge_plan", "An intent merge plan, v0.9.3"),
        schema::<QuestionPack>("question_pack", "A question pack, v0.9.3"),
        schema::<AnswerPack>("answer_pack", "An answer pack, v0.9.3"),
    ]
}

/// One schema file, marked as generated.
fn schema<T: Wire>(id: &str, title: &str) -> (String, String) {
    (format!("schemas/{id}.schema.json"), marked(&schema_document::<T>(id, title)))
}

/// A JSON document that says first that it is generated.
pub(super) fn marked(document: &Json<'static>) -> String {
    let members = document.as_object().map_or_else(Vec::new, |object| object.members().to_vec());
    let members = members.into_iter().map(|member| (member.key, member.value));
    let notice = ("$comment".into(), Json::from(super::JSON_NOTICE));
    Json::object(members.chain([notice])).to_pretty()
}
