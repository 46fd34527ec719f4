//! The result: what an intent would do, whole, frozen by its checksum.

use countersign_canon::{Checksum, Distinct, List, Text, Timestamp, record};
use countersign_intent::{EvidenceRef, IntentId, Version};

use crate::{
    ResultId,
    wire::{
        AuditStep, CommitPlan, DryRunVersion, ExecutionGraph, ExecutionMode, GenerationEnvironment,
        PatchPlan, RedLine, ReviewPackStub, SourceType, WarningCode,
    },
};

record! {
    /// What an intent would do, without doing it: the order of work, the files, the commits and who must look.
    pub struct DryExecutionResult {
        /// Its id, made from the intent's id and checksum.
        result_id: ResultId,
        /// The version of this form.
        schema_version: DryRunVersion,
        /// The intent it is about.
        intent_ref: IntentRef,
        /// When it was made.
        created_at: Timestamp,
        /// The order of work.
        graph: ExecutionGraph,
        /// The files.
        patch_plan: PatchPlan,
        /// The commits.
        commit_plan: CommitPlan,
        /// What a reviewer starts from.
        review_pack_stub: ReviewPackStub,
        /// What was decided while planning.
        audit_log: List<AuditEntry, 1, 100>,
        /// How it was made.
        metadata: ResultMetadata,
        /// What it was made from.
        lineage: ResultLineage,
        /// The SHA-256 of the canonical document without this member and without times.
        checksum: Checksum,
    }
}

record! {
    /// The intent that a result is about.
    pub struct IntentRef {
        /// Its id.
        intent_id: IntentId,
        /// Its checksum.
        checksum: Checksum,
        /// Its version.
        version: Version,
    }
}

record! {
    /// One decision of planning.
    pub struct AuditEntry {
        /// When it was made.
        timestamp: Timestamp,
        /// In which step.
        step: AuditStep,
        /// What was decided.
        decision: Text<1, 1000>,
        /// Why.
        rationale: Text<1, 1000>,
        /// What it is founded on.
        evidence_refs: List<EvidenceRef, 1, 30>,
    }
}

record! {
    /// How a result was made.
    pub struct ResultMetadata {
        /// The version of the planner.
        dry_executor_version: Version,
        /// Always `dry_run` (DE1).
        execution_mode: ExecutionMode,
        /// All six red lines.
        constraints_enforced: Distinct<RedLine, 6, 6>,
        /// What the reader must know.
        warnings: List<Warning, 0, 8000>,
    }
}

record! {
    /// What the reader of a result must know.
    pub struct Warning {
        /// Which sort.
        code: WarningCode,
        /// What.
        message: Text<1, 2000>,
    }
}

record! {
    /// What a result was made from (DE6).
    pub struct ResultLineage {
        /// Every source.
        derived_from: List<DerivedFrom, 1, 4>,
        /// What made it.
        generation_context: GenerationContext,
    }
}

record! {
    /// One source of a result.
    pub struct DerivedFrom {
        /// What it is.
        kind = "type": SourceType,
        /// Which one.
        id: Text<1, 200>,
        /// Its checksum.
        checksum: Checksum,
    }
}

record! {
    /// What made a result.
    pub struct GenerationContext {
        /// The planner.
        environment: GenerationEnvironment,
    }
}
