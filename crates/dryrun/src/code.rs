//! Machine codes of this crate: the frozen names of everything it can refuse.

/// The codes of this crate.
pub mod codes {
    countersign_canon::declare_codes! {
        /// A dry-run result does not have the form of one; the cause says how.
        DRY_RUN_INVALID
        /// DE1: a result carries something to execute.
        DE1_EXECUTION_PAYLOAD
        /// DE1: a result does not say that it is a dry run.
        DE1_NOT_DRY_RUN
        /// DE2: a result does not say that nothing was written.
        DE2_WRITE_NOT_EXCLUDED
        /// DE3: a result does not say that nothing was made up.
        DE3_FABRICATION_NOT_EXCLUDED
        /// DE3: a path stands in a diff or commit and is not one of the planned files.
        DE3_PATH_NOT_PLANNED
        /// DE3: a path stands in a result that the intent does not name, whole.
        DE3_PATH_NOT_IN_INTENT
        /// DE4: a node, file or commit names no evidence.
        DE4_NO_EVIDENCE
        /// DE4: a reference has no known scheme, so it is free text and not evidence.
        DE4_NOT_EVIDENCE
        /// DE5: the risk is high or critical and nobody reviews it.
        DE5_HIGH_RISK_NO_REVIEW
        /// DE6: a document carries no checksum.
        DE6_CHECKSUM_MISSING
        /// DE6: a checksum is not that of the content.
        DE6_CHECKSUM_MISMATCH
        /// DE6: a document does not say what it was made from.
        DE6_LINEAGE_MISSING
        /// DE6: the lineage, the intent reference and the result's id do not agree.
        DE6_LINEAGE_MISMATCH
        /// A result does not list all six red lines.
        DRY_RUN_CONSTRAINT_MISSING
        /// An edge, lane or dependency names something that is not there, or one id stands for two things.
        DRY_RUN_DANGLING
        /// The graph goes round in a circle.
        DRY_RUN_CYCLE
        /// A node cannot be reached.
        DRY_RUN_UNREACHABLE
        /// A node stands in no lane, or in two.
        DRY_RUN_LANES
        /// An action changes something and no review comes before it.
        DRY_RUN_UNGUARDED
        /// The commits do not hold each planned file exactly once, or one depends on a later one.
        DRY_RUN_COMMITS
        /// The budgets of the intent cannot hold what it plans.
        DRY_RUN_OVER_BUDGET
        /// A value is not the one that the intent gives.
        DRY_RUN_DIFFERS
        /// A result was made from a document that was not given.
        DRY_RUN_SOURCE_MISSING
        /// A merge plan rejects its set, so there is no intent to plan.
        DRY_RUN_NO_RESULT_INTENT
        /// An evaluation is not about this intent.
        DRY_RUN_EVALUATION_FOREIGN
        /// An evaluation rejects the set or lets another intent win.
        DRY_RUN_EVALUATION_CLOSED
        /// A result would break its own form: a defect of this program.
        DRY_RUN_INTERNAL
    }
}
