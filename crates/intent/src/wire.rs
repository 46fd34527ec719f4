//! The documents exactly as they are written: one declaration reads, writes and describes each.

mod intent;
mod metadata;
mod pack;
mod plan;
mod registry;
mod result;
mod set;
mod vocabulary;

pub(crate) use crate::wire::result::CONFLICT_EVIDENCE_MAX;
pub use crate::wire::{
    intent::{
        Audit, Budgets, Constraints, IntentDocument, Interaction, Lineage, LockScope, Objective,
        PlannedCommand, Risk, Scope, SelectedAgent, SelectedWorkflow, Targets,
    },
    metadata::{MergeOrder, Metadata},
    pack::{Answer, AnswerPack, AnswerPackType, Choice, Question, QuestionPack, QuestionPackType},
    plan::{
        ExecutionConstraint, MergePlanDocument, MergePlanType, Operation, PlanLineage, PlanMetadata,
        RegistryNote,
    },
    registry::{AgentEntry, CommandEntry, WorkflowEntry},
    result::{
        AnswerPackRef, Conflict, Dimensions, Dominance, Evaluation, EvaluationDocument, EvaluationInput,
        EvaluationLineage, EvaluationType, MergeSummary, RiskComparison, RiskEntry,
    },
    set::{IntentSetDocument, IntentSetType, SetContext, SetLineage, TimeWindow},
    vocabulary::{
        Area, AuditSource, ConflictType, Effect, Environment, ExecutionIntentType, Forbidden,
        InteractionMode, LockMode, OperationKind, Phase, QuestionPolicy, RegistryLookup, Relationship,
        Resolution, Review, RiskLevel, SchemaVersion, Severity, Status, Strategy, True, Verb,
    },
};
