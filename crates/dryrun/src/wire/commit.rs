//! The commit plan: how the changes would be cut.

use countersign_canon::{Checksum, Distinct, List, RepoPath, Text, Within, record};
use countersign_intent::{
    EvidenceRef,
    wire::{Phase, RiskLevel},
};

use crate::{CommitId, wire::RollbackStrategy};

record! {
    /// The commits that the planned files would be cut into.
    pub struct CommitPlan {
        /// The commits, in an order that keeps every dependency.
        commits: List<Commit, 0, 50>,
        /// How they hold against the budgets.
        metadata: CommitMetadata,
        /// The SHA-256 of the canonical plan without this member.
        checksum: Checksum,
    }
}

record! {
    /// One commit.
    pub struct Commit {
        /// Its id.
        commit_id: CommitId,
        /// What it is called.
        title: Text<1, 400>,
        /// The phase in which it is complete.
        scope: Phase,
        /// Its files, sorted.
        files: Distinct<RepoPath, 1, 4000>,
        /// Why these belong together.
        rationale: Text<1, 1000>,
        /// The commits that must come first.
        depends_on: Distinct<CommitId, 0, 50>,
        /// How bad it could be: the highest risk of its files.
        risk: RiskLevel,
        /// What it is founded on (DE4).
        evidence_refs: List<EvidenceRef, 1, 100>,
        /// How it is taken back.
        rollback_strategy: RollbackStrategy,
        /// Labels.
        tags: Distinct<Text<1, 64>, 0, 20>,
    }
}

record! {
    /// How a commit plan holds against the budgets.
    pub struct CommitMetadata {
        /// Distinct files in all commits.
        total_files: Within<0, 4000>,
        /// Whether `max_commits` and `max_files` hold.
        respects_max_commits_budget: bool,
        /// Commits in the longest row of dependencies.
        commit_dag_depth: Within<0, 50>,
    }
}
