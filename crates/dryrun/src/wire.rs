//! The documents exactly as they are written: one declaration reads, writes and describes each.

mod commit;
mod graph;
mod patch;
mod result;
mod review;
mod vocabulary;

pub use crate::wire::{
    commit::{Commit, CommitMetadata, CommitPlan},
    graph::{Edge, ExecutionGraph, Node, Swimlane},
    patch::{EstimatedDiff, LockIntent, PatchConstraints, PatchPlan, PlannedFile, Unknown},
    result::{
        AuditEntry, DerivedFrom, DryExecutionResult, GenerationContext, IntentRef, ResultLineage,
        ResultMetadata, Warning,
    },
    review::{EvidenceCoverage, ReviewPackStub, ReviewTime, RiskSummary},
    vocabulary::{
        AuditStep, DryRunVersion, EdgeType, ExecutionMode, FileAction, GenerationEnvironment, Impact,
        LockIntentMode, LockIntentScope, NodeType, RedLine, RollbackStrategy, SourceType, UnknownType,
        WarningCode,
    },
};
