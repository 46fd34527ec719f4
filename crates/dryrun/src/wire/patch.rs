//! The patch plan: which files would change, and what is not known.

use countersign_canon::{Checksum, List, RepoPath, Text, record};
use countersign_intent::{
    EvidenceRef,
    wire::{RiskLevel, True},
};

use crate::{
    DiffPlaceholder,
    wire::{FileAction, Impact, LockIntentMode, LockIntentScope, UnknownType},
};

record! {
    /// The files that would change, each of them named by the intent, and everything that is not known.
    pub struct PatchPlan {
        /// The files, sorted by path.
        files: List<PlannedFile, 0, 4000>,
        /// What each change is for.
        estimated_diffs: List<EstimatedDiff, 0, 4000>,
        /// What holds for all of it.
        constraints: PatchConstraints,
        /// What is not known.
        unknowns: List<Unknown, 0, 4000>,
        /// The SHA-256 of the canonical plan without this member.
        checksum: Checksum,
    }
}

record! {
    /// One file that would change.
    pub struct PlannedFile {
        /// Which one, whole and as the intent names it (DE3).
        path: RepoPath,
        /// What becomes of it.
        action: FileAction,
        /// Why.
        rationale: Text<1, 1000>,
        /// How bad it could be: the risk of the commands that change it.
        risk: RiskLevel,
        /// What it is founded on (DE4).
        evidence_refs: List<EvidenceRef, 1, 30>,
        /// How it would be locked.
        lock_intent: LockIntent,
        /// How far it reaches.
        estimated_impact: Impact,
    }
}

record! {
    /// How a file would be locked.
    pub struct LockIntent {
        /// How.
        mode: LockIntentMode,
        /// What with it.
        scope: LockIntentScope,
    }
}

record! {
    /// What a change is for; what it is nobody knows yet.
    pub struct EstimatedDiff {
        /// Which file.
        file_path: RepoPath,
        /// Stands where the hash of a diff will be; made from intent, path and action.
        diff_hash_placeholder: DiffPlaceholder,
        /// What it is for.
        intent_summary: Text<1, 1000>,
    }
}

record! {
    /// What holds for a patch plan.
    pub struct PatchConstraints {
        /// DE1: nothing was executed.
        no_exec: True,
        /// DE2: nothing was written.
        no_fs_write: True,
        /// DE3: nothing was made up.
        no_fabrication: True,
    }
}

record! {
    /// Something that is not known, and what would make it known.
    pub struct Unknown {
        /// What sort.
        kind = "type": UnknownType,
        /// What.
        description: Text<1, 2000>,
        /// Why it is not planned.
        reason: Text<1, 1000>,
        /// What is needed to plan it.
        needed_evidence: Text<1, 2000>,
    }
}
