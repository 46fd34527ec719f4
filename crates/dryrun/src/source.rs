//! What a plan is made from: one intent that passed every check, perhaps the merge plan it came in, perhaps the
//! evaluation that chose it.

use alloc::{format, vec::Vec};

use countersign_canon::{Issue, Json, NonEmpty, Pointer};
use countersign_intent::{
    DocumentKind, Intent, Registry, intent_codes, read_evaluation, read_merge_plan,
    wire::{EvaluationDocument, MergePlanDocument, Operation, OperationKind, Status, Strategy},
};

use crate::code::codes;

/// An intent that may be planned, with where it comes from.
#[derive(Debug, Clone)]
pub struct Source {
    // INVARIANT: the intent is open; plan and evaluation, where there are any, are about it.
    intent: Intent,
    plan: Option<MergePlanDocument>,
    evaluation: Option<EvaluationDocument>,
}

impl Source {
    /// Takes an intent, or the result intent of a merge plan, after all of its load checks.
    ///
    /// # Errors
    ///
    /// Fails with every problem at once; a rejected or superseded intent and a plan that rejects are refused too.
    pub fn load(bytes: &[u8], registry: Option<&Registry>) -> Result<Self, NonEmpty<Issue>> {
        let json =
            Json::parse(bytes).map_err(|issue| NonEmpty::of(issue.under(intent_codes::INTENT_INVALID)))?;
        Self::from_json(&json, registry)
    }

    /// The same for a document that is parsed already.
    ///
    /// # Errors
    ///
    /// As [`Source::load`].
    pub fn from_json(json: &Json<'_>, registry: Option<&Registry>) -> Result<Self, NonEmpty<Issue>> {
        let (intent, plan) = match DocumentKind::of(json) {
            Ok(DocumentKind::MergePlan) => {
                let plan = read_merge_plan(json, registry)?;
                let Some(result) = json.get("result_intent") else {
                    let issue = Issue::new(codes::DRY_RUN_NO_RESULT_INTENT, "the plan rejects its set");
                    let issue = issue.with_pointer(Pointer::root().key("strategy"));
                    return Err(NonEmpty::of(
                        issue.with_hint("answer the questions, evaluate again, then plan"),
                    ));
                };
                (Intent::from_json(result, registry)?, Some(plan))
            }
            Ok(_) | Err(_) => (Intent::from_json(json, registry)?, None),
        };
        let status = intent.document().status;
        if matches!(status, Status::Rejected | Status::Superseded) {
            let issue = Issue::new(intent_codes::INTENT_NOT_OPEN, format!("the intent is {status}"));
            let issue = issue.with_pointer(Pointer::root().key("status"));
            return Err(NonEmpty::of(issue.with_expected("draft, proposed or approved")));
        }
        Ok(Self { intent, plan, evaluation: None })
    }

    /// The same source, chosen by this evaluation.
    ///
    /// # Errors
    ///
    /// Fails if the evaluation is invalid, is not about this intent, or decides against it.
    pub fn with_evaluation(self, json: &Json<'_>) -> Result<Self, NonEmpty<Issue>> {
        let evaluation = read_evaluation(json)?;
        let summary = &evaluation.evaluation.merge_plan;
        let at = Pointer::root().key("evaluation").key("merge_plan");
        let id = self.intent.id();
        if summary.strategy == Strategy::Reject {
            let issue = Issue::new(codes::DRY_RUN_EVALUATION_CLOSED, "the evaluation rejects the set");
            return Err(NonEmpty::of(issue.with_pointer(at.key("strategy"))));
        }
        let checksum = self.intent.checksum();
        let is_result = summary.result_intent_id.as_ref() == Some(id)
            && summary.result_intent_checksum.as_ref() == Some(&checksum);
        let is_same_plan = self.plan.as_ref().is_none_or(|plan| plan.operations == summary.operations);
        let is_member = self.plan.is_none() && evaluation.input.intent_checksums.get(id) == Some(&checksum);
        if !(is_result && is_same_plan || is_member) {
            let message = format!("the evaluation is not about `{id}` as it stands here");
            let issue = Issue::new(codes::DRY_RUN_EVALUATION_FOREIGN, message);
            return Err(NonEmpty::of(issue.with_pointer(at.key("result_intent_id"))));
        }
        let lost = || {
            summary
                .operations
                .iter()
                .any(|operation| is_choice(operation) && operation.source_intent_id == *id)
        };
        if !is_result && lost() {
            let message = format!("another intent wins over `{id}`");
            let issue = Issue::new(codes::DRY_RUN_EVALUATION_CLOSED, message);
            return Err(NonEmpty::of(issue.with_pointer(at.key("operations"))));
        }
        Ok(Self { evaluation: Some(evaluation), ..self })
    }

    /// The intent.
    #[must_use]
    pub const fn intent(&self) -> &Intent {
        &self.intent
    }

    /// The merge plan that the intent came in.
    #[must_use]
    pub const fn plan(&self) -> Option<&MergePlanDocument> {
        self.plan.as_ref()
    }

    /// The evaluation that chose the intent.
    #[must_use]
    pub const fn evaluation(&self) -> Option<&EvaluationDocument> {
        self.evaluation.as_ref()
    }

    /// The operations by which one intent won over another.
    pub(crate) fn choices(&self) -> Vec<&Operation> {
        let of_evaluation =
            self.evaluation.as_ref().map(|evaluation| &evaluation.evaluation.merge_plan.operations);
        let operations = of_evaluation.or_else(|| self.plan.as_ref().map(|plan| &plan.operations));
        operations.into_iter().flatten().filter(|operation| is_choice(operation)).collect()
    }
}

/// Whether an operation lets one intent win over another.
fn is_choice(operation: &Operation) -> bool {
    operation.operation == OperationKind::OverrideField && operation.other_intent_id.is_some()
}
