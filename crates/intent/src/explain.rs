//! Explains a result to a person: who runs now, who waits, who lost, what needs an answer, and why.

mod markdown;
mod picture;
mod text;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{Json, Wire};

use crate::{
    IntentId,
    wire::{EvaluationDocument, OperationKind, RegistryLookup, RiskEntry, Strategy},
};

pub use crate::explain::{markdown::explain_markdown, picture::explain_svg, text::explain_text};

/// What becomes of one intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It can run now.
    RunsNow,
    /// It runs once these have ended; with the first reason.
    Waits(Vec<IntentId>, String),
    /// Another wins over it, and why.
    Superseded(IntentId, String),
    /// It cannot go on until a question is answered.
    NeedsAnswer,
    /// Nothing is wrong with it, but the set it stands in is rejected.
    Held,
}

impl Fate {
    const fn word(&self) -> &'static str {
        match self {
            Self::RunsNow => "runs now",
            Self::Waits(..) => "waits",
            Self::Superseded(..) => "superseded",
            Self::NeedsAnswer => "needs answer",
            Self::Held => "held",
        }
    }

    fn because(&self) -> String {
        match self {
            Self::RunsNow => String::new(),
            Self::Waits(after, reason) => {
                let after: Vec<&str> = after.iter().map(IntentId::as_str).collect();
                format!("for {}: {reason}", after.join(", "))
            }
            Self::Superseded(by, reason) => format!("by {by}: {reason}"),
            Self::NeedsAnswer => "see the questions below".into(),
            Self::Held => "nothing is wrong with it; its set is rejected".into(),
        }
    }
}

/// What becomes of each intent of a result, in the order of the result's matrix.
#[must_use]
pub fn fates(result: &EvaluationDocument) -> Vec<(&RiskEntry, Fate)> {
    let plan = &result.evaluation.merge_plan;
    let asked: BTreeSet<_> =
        result.requires_questions.iter().flat_map(|question| question.conflict_ids.iter()).collect();
    let asked = result.evaluation.conflicts.iter().filter(|conflict| asked.contains(&conflict.conflict_id));
    let asked: BTreeSet<&IntentId> = asked.flat_map(|conflict| conflict.intent_ids.iter()).collect();
    let mut waits: BTreeMap<&IntentId, (Vec<IntentId>, String)> = BTreeMap::new();
    let mut lost: BTreeMap<&IntentId, (IntentId, String)> = BTreeMap::new();
    for operation in &plan.operations {
        let Some(other) = operation.other_intent_id.clone() else { continue };
        let why = || String::from(operation.evidence.as_str());
        match operation.operation {
            OperationKind::OrderPhases => {
                waits.entry(&operation.source_intent_id).or_insert_with(|| (Vec::new(), why())).0.push(other);
            }
            OperationKind::OverrideField => {
                lost.entry(&operation.source_intent_id).or_insert_with(|| (other, why()));
            }
            OperationKind::UnionCommands
            | OperationKind::UnionWorkflows
            | OperationKind::UnionAgents
            | OperationKind::UnionEvidence
            | OperationKind::MergeBudgets
            | OperationKind::AggregateRisk
            | OperationKind::KeepField => (),
        }
    }
    let fate = |id: &IntentId| match (plan.strategy, lost.get(id), waits.get(id)) {
        (Strategy::Reject, _, _) if asked.contains(id) => Fate::NeedsAnswer,
        (Strategy::Reject, _, _) => Fate::Held,
        (Strategy::MergeUnion | Strategy::OverrideByPriority, Some((by, why)), _) => {
            Fate::Superseded(by.clone(), why.clone())
        }
        (Strategy::MergeUnion | Strategy::OverrideByPriority, None, Some((after, why))) => {
            Fate::Waits(after.clone(), why.clone())
        }
        (Strategy::MergeUnion | Strategy::OverrideByPriority, None, None) => Fate::RunsNow,
    };
    result.evaluation.risk_comparison.matrix.iter().map(|entry| (entry, fate(&entry.intent_id))).collect()
}

/// The explanation as data.
#[must_use]
pub fn explain_json(result: &EvaluationDocument) -> Json<'static> {
    let intents = fates(result).into_iter().map(|(entry, fate)| {
        Json::object([
            ("intent_id", entry.intent_id.write()),
            ("fate", Json::from(fate.word())),
            ("because", Json::from(fate.because())),
            ("overall_risk", entry.overall_risk.write()),
        ])
    });
    let conflicts = result.evaluation.conflicts.iter().map(|conflict| {
        Json::object([
            ("conflict_id", conflict.conflict_id.write()),
            ("type", conflict.kind.write()),
            ("severity", conflict.severity.write()),
            ("description", conflict.description.write()),
        ])
    });
    Json::object([
        ("evaluation_id", result.id.write()),
        ("intent_set_id", result.input.intent_set_id.write()),
        ("decision", Json::from(decision(result))),
        ("intents", Json::array(intents)),
        ("conflicts", Json::array(conflicts)),
        ("questions", result.requires_questions.write()),
    ])
}

/// The decision in one sentence.
fn decision(result: &EvaluationDocument) -> String {
    let plan = &result.evaluation.merge_plan;
    let (mut keeps, mut lost) = (0_usize, 0_usize);
    for (_, fate) in fates(result) {
        match fate {
            Fate::Superseded(..) => lost = lost.saturating_add(1),
            Fate::RunsNow | Fate::Waits(..) | Fate::NeedsAnswer | Fate::Held => {
                keeps = keeps.saturating_add(1)
            }
        }
    }
    let into = plan.result_intent_id.as_ref().map_or("", IntentId::as_str);
    let questions = result.requires_questions.len();
    match plan.strategy {
        Strategy::MergeUnion => format!("all {keeps} go on together, as {into}"),
        Strategy::OverrideByPriority => {
            format!("{keeps} of {} go on, as {into}; {lost} superseded", keeps.saturating_add(lost))
        }
        Strategy::Reject if questions == 1 => "rejected; 1 question to answer".into(),
        Strategy::Reject => format!("rejected; {questions} questions to answer"),
    }
}

/// What the reader must know about the look-up, if it was left out.
fn registry_note(result: &EvaluationDocument) -> Option<&'static str> {
    match result.metadata.registry.lookup {
        RegistryLookup::Checked => None,
        RegistryLookup::Skipped => {
            Some("No registry was used: workflows, agents and commands were not looked up (I5).")
        }
    }
}
