//! The documents of an outcome, put together and sealed.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Checksum, Json, List, Value, Wire};

use crate::{
    DocumentKind, EvaluationId, Intent, MergePlanId, Outcome, QuestionPackId, Version,
    detect::{Finding, short_hash},
    evaluate::Weighed,
    operation::Writer,
    question::Asker,
    resolve::Settlement,
    risk::compare_risks,
    wire::{
        AnswerPack, AnswerPackRef, Conflict, Evaluation, EvaluationDocument, EvaluationInput,
        EvaluationLineage, EvaluationType, ExecutionConstraint, Forbidden, MergePlanDocument, MergePlanType,
        MergeSummary, Operation, PlanLineage, PlanMetadata, Question, QuestionPack, QuestionPackType,
        RegistryLookup, RegistryNote, SchemaVersion, Strategy,
    },
};

/// The merged intent, and the order in which its sources run.
#[derive(Debug, Clone)]
pub(crate) struct Merged {
    pub(crate) intent: Intent,
    pub(crate) order: Vec<usize>,
}

/// Puts the documents together; nothing if one of them would break its own form.
pub(crate) fn documents(
    weighed: &Weighed<'_>,
    findings: &[Finding],
    settlement: &Settlement,
    merged: Option<&Merged>,
    packs: &[AnswerPack],
) -> Option<Outcome> {
    let asker = Asker { field: &weighed.field, findings, edges: &weighed.edges };
    let questions = asker.questions(&settlement.undecided);
    let strategy = match (merged, settlement.superseded.is_empty()) {
        (None, _) => Strategy::Reject,
        (Some(_), true) => Strategy::MergeUnion,
        (Some(_), false) => Strategy::OverrideByPriority,
    };
    let operations = match merged {
        Some(merged) => {
            let writer = Writer { field: &weighed.field, edges: &weighed.edges, findings, settlement };
            writer.operations(&merged.order)?
        }
        None => Vec::new(),
    };
    let mut ordered: Vec<&Finding> = findings.iter().collect();
    ordered.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    let conflicts: Option<Vec<Conflict>> =
        ordered.iter().map(|finding| finding.to_wire(&weighed.field)).collect();
    let plan = plan(weighed, strategy, &operations, merged, settlement)?;
    let summary = MergeSummary {
        strategy,
        operations,
        result_intent_id: merged.map(|merged| merged.intent.id().clone()),
        result_intent_checksum: merged.map(|merged| merged.intent.checksum()),
    };
    let result = result(weighed, conflicts?, summary, questions, packs)?;
    let questions = match strategy {
        Strategy::Reject => Some(question_pack(weighed, &result)?),
        Strategy::MergeUnion | Strategy::OverrideByPriority => None,
    };
    Some(Outcome { result, plan, questions })
}

fn result(
    weighed: &Weighed<'_>,
    conflicts: Vec<Conflict>,
    merge_plan: MergeSummary,
    requires_questions: Vec<Question>,
    packs: &[AnswerPack],
) -> Option<EvaluationDocument> {
    let set = weighed.set.document();
    let checksums = weighed.set.intents().iter().map(|intent| (intent.id().clone(), intent.checksum()));
    let packs = packs.iter().map(|pack| AnswerPackRef { id: pack.id.clone(), checksum: pack.checksum });
    let risk_comparison = compare_risks(weighed.set.intents(), set.context.env);
    let document = EvaluationDocument {
        id: EvaluationId::parse("eval_result_0").ok()?,
        kind: EvaluationType::IntentEvaluationResult,
        schema_version: SchemaVersion::V0_9_3,
        created_at: weighed.options.created_at,
        input: EvaluationInput { intent_set_id: set.id.clone(), intent_checksums: checksums.collect() },
        evaluation: Evaluation { conflicts, merge_plan, risk_comparison },
        requires_questions,
        constraints: ExecutionConstraint { execution: Forbidden::Forbidden },
        lineage: EvaluationLineage {
            derived_from_intent_set: set.id.clone(),
            evaluator_version: Version::parse("0.9.3").ok()?,
            answer_packs: List::new(packs.collect())?,
        },
        metadata: note(weighed),
        checksum: not_yet(),
    };
    let (id, checksum) = sealed(DocumentKind::Evaluation, "eval_result", document.write());
    Some(EvaluationDocument { id: EvaluationId::parse(&id).ok()?, checksum, ..document })
}

fn question_pack(weighed: &Weighed<'_>, result: &EvaluationDocument) -> Option<QuestionPack> {
    let pack = QuestionPack {
        id: QuestionPackId::parse("qpack_0").ok()?,
        kind: QuestionPackType::QuestionPack,
        schema_version: SchemaVersion::V0_9_3,
        intent_set_id: result.input.intent_set_id.clone(),
        evaluation_id: result.id.clone(),
        questions: List::new(result.requires_questions.clone())?,
        created_at: weighed.options.created_at,
        checksum: not_yet(),
    };
    let (id, checksum) = sealed(DocumentKind::QuestionPack, "qpack", pack.write());
    Some(QuestionPack { id: QuestionPackId::parse(&id).ok()?, checksum, ..pack })
}

fn plan(
    weighed: &Weighed<'_>,
    strategy: Strategy,
    operations: &[Operation],
    merged: Option<&Merged>,
    settlement: &Settlement,
) -> Option<MergePlanDocument> {
    let sources: Vec<_> = weighed.set.intents().iter().map(|intent| intent.id().clone()).collect();
    let lost = settlement.superseded.keys().filter(|_| merged.is_some());
    let lost: Vec<_> = lost.filter_map(|&index| Some(weighed.field.intent(index)?.id().clone())).collect();
    let document = MergePlanDocument {
        id: MergePlanId::parse("merge_plan_0").ok()?,
        kind: MergePlanType::IntentMergePlan,
        schema_version: SchemaVersion::V0_9_3,
        created_at: weighed.options.created_at,
        strategy,
        source_intent_ids: List::new(sources.clone())?,
        operations: operations.to_vec(),
        result_intent: merged.map(|merged| merged.intent.document().clone()),
        lineage: PlanLineage { derived_from: List::new(sources)?, supersedes: List::new(lost)? },
        constraints: ExecutionConstraint { execution: Forbidden::Forbidden },
        metadata: Some(note(weighed)),
        checksum: not_yet(),
    };
    let (id, checksum) = sealed(DocumentKind::MergePlan, "merge_plan", document.write());
    Some(MergePlanDocument { id: MergePlanId::parse(&id).ok()?, checksum, ..document })
}

fn note(weighed: &Weighed<'_>) -> PlanMetadata {
    let registry = match weighed.options.registry {
        Some(registry) => RegistryNote { lookup: RegistryLookup::Checked, content: Some(registry.content()) },
        None => RegistryNote { lookup: RegistryLookup::Skipped, content: None },
    };
    PlanMetadata { registry }
}

/// The id of a document, which comes from its content so that the same input gives the same bytes, and its checksum.
fn sealed(kind: DocumentKind, prefix: &str, mut document: Json<'static>) -> (String, Checksum) {
    let content = document.to_canonical_without(&[&["id"], &["checksum"]]);
    let id = format!("{prefix}_{}", short_hash(&content));
    if let Value::Object(object) = &mut document.value {
        *object = core::mem::take(object).with("id", Json::from(id.clone()));
    }
    let checksum = kind.checksum(&document);
    (id, checksum)
}

/// Stands where the checksum will be; what is hashed leaves it out.
fn not_yet() -> Checksum {
    Checksum::of_json(&Value::Null.into())
}
