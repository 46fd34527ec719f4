//! The evaluation result: conflicts, what becomes of the set, risk and questions.

use alloc::{collections::BTreeMap, vec::Vec};

use countersign_canon::{Checksum, Json, List, Text, Timestamp, Within, choice, record};

use crate::{
    AnswerPackId, ConflictId, EvaluationId, EvidenceRef, IntentId, IntentSetId, Version,
    wire::{
        ConflictType, ExecutionConstraint, Operation, PlanMetadata, Question, Relationship, Resolution,
        RiskLevel, SchemaVersion, Severity, Strategy,
    },
};

/// LIMIT: a circle may go through as many intents as are open at once, and all of them are named.
pub(crate) const CONFLICT_INTENTS_MAX: usize = 100_000;
/// LIMIT: what is a conflict is named in full; where one sees it is shown by its first places.
pub(crate) const CONFLICT_EVIDENCE_MAX: usize = 4000;
/// LIMIT: a path of a repository, with room for the `/` of a folder.
pub(crate) const CONFLICT_RESOURCE_CHARS_MAX: usize = 4200;

choice! {
    /// The type of an evaluation result.
    pub enum EvaluationType {
        /// The only type there is.
        IntentEvaluationResult = "intent_evaluation_result",
    }
}

record! {
    /// What weighing a set of intents came to: every conflict, what becomes of the set, how the risks compare, and what a person must answer.
    pub struct EvaluationDocument {
        /// Its id.
        id: EvaluationId,
        /// Always `intent_evaluation_result`.
        kind = "type": EvaluationType,
        /// The version of this form.
        schema_version: SchemaVersion,
        /// When it was made.
        created_at: Timestamp,
        /// What was weighed.
        input: EvaluationInput,
        /// What came of it.
        evaluation: Evaluation,
        /// What a person must answer; empty unless the set is rejected.
        requires_questions: Vec<Question>,
        /// That nothing here is executed.
        constraints: ExecutionConstraint,
        /// Where it comes from.
        lineage: EvaluationLineage,
        /// How it was made.
        metadata: PlanMetadata,
        /// The SHA-256 of the canonical document without this member.
        checksum: Checksum,
    }
    also result_rules
}

record! {
    /// What was weighed.
    pub struct EvaluationInput {
        /// The set.
        intent_set_id: IntentSetId,
        /// The checksum of each of its intents.
        intent_checksums: BTreeMap<IntentId, Checksum>,
    }
}

record! {
    /// What came of weighing a set.
    pub struct Evaluation {
        /// Every conflict.
        conflicts: Vec<Conflict>,
        /// What becomes of the set.
        merge_plan: MergeSummary,
        /// How the risks compare.
        risk_comparison: RiskComparison,
    }
}

record! {
    /// What two or more intents cannot both have.
    pub struct Conflict {
        /// Its id, made from its content.
        conflict_id: ConflictId,
        /// What sort it is.
        kind = "type": ConflictType,
        /// How grave it is.
        severity: Severity,
        /// Between which intents.
        intent_ids: List<IntentId, 2, CONFLICT_INTENTS_MAX>,
        /// What it is about: a path, `module://…`, `service://…`, `env://…` or a JSON pointer.
        resource_ref: Option<Text<1, CONFLICT_RESOURCE_CHARS_MAX>>,
        /// What is wrong.
        description: Text<1, 4000>,
        /// Where one sees it.
        evidence_refs: List<EvidenceRef, 1, CONFLICT_EVIDENCE_MAX>,
        /// What can be done.
        resolutions: List<Resolution, 1, 4>,
    }
}

record! {
    /// What becomes of a set, in short.
    pub struct MergeSummary {
        /// What was decided.
        strategy: Strategy,
        /// The steps, in order.
        operations: Vec<Operation>,
        /// The intent that comes out, if any.
        result_intent_id: Option<IntentId>,
        /// The checksum of that intent.
        result_intent_checksum: Option<Checksum>,
    }
}

record! {
    /// How the risks compare.
    pub struct RiskComparison {
        /// Each intent.
        matrix: Vec<RiskEntry>,
        /// Each pair.
        dominance: Vec<Dominance>,
    }
}

record! {
    /// The risk of one intent.
    pub struct RiskEntry {
        /// Which intent.
        intent_id: IntentId,
        /// The higher of what it declares and what follows from the dimensions.
        overall_risk: RiskLevel,
        /// From 0 to 100 each.
        dimensions: Dimensions,
    }
}

record! {
    /// Risk from 0 to 100, in four dimensions.
    pub struct Dimensions {
        /// What its commands do.
        effects_risk: Within<0, 100>,
        /// Where, and how widely.
        scope_risk: Within<0, 100>,
        /// How much would be hit.
        blast_radius: Within<0, 100>,
        /// How little is known.
        unknowns: Within<0, 100>,
    }
}

record! {
    /// How the risks of two intents compare.
    pub struct Dominance {
        /// The first.
        intent_a: IntentId,
        /// The second.
        intent_b: IntentId,
        /// How they compare.
        relationship: Relationship,
    }
}

record! {
    /// Where a result comes from.
    pub struct EvaluationLineage {
        /// The set.
        derived_from_intent_set: IntentSetId,
        /// The version of the evaluator.
        evaluator_version: Version,
        /// The answers that were taken into account.
        answer_packs: List<AnswerPackRef, 0, 100>,
    }
}

record! {
    /// An answer pack that was taken into account.
    pub struct AnswerPackRef {
        /// Which one.
        id: AnswerPackId,
        /// Its checksum.
        checksum: Checksum,
    }
}

/// A reject asks, and only a reject comes without a result intent; as the schema says it.
fn result_rules() -> [(&'static str, Json<'static>); 3] {
    let rule = |text: &'static str| Json::parse(text.as_bytes()).unwrap_or_else(|_| Json::from(false));
    let merge_plan = |inner: &'static str| rule(inner);
    [
        (
            "if",
            merge_plan(
                r#"{"properties": {"evaluation": {"properties": {"merge_plan": {"properties": {"strategy": {"const": "reject"}}, "required": ["strategy"]}}, "required": ["merge_plan"]}}, "required": ["evaluation"]}"#,
            ),
        ),
        (
            "then",
            merge_plan(
                r#"{"properties": {"requires_questions": {"minItems": 1}, "evaluation": {"properties": {"merge_plan": {"not": {"required": ["result_intent_id"]}}}}}}"#,
            ),
        ),
        (
            "else",
            merge_plan(
                r#"{"properties": {"evaluation": {"properties": {"merge_plan": {"required": ["result_intent_id"]}}}}}"#,
            ),
        ),
    ]
}
