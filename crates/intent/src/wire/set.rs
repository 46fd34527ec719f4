//! The intent set: which intents are weighed against each other.

use countersign_canon::{Checksum, Distinct, List, Text, Timestamp, choice, record};

use crate::{
    IntentId, IntentSetId, Version,
    wire::{Environment, ExecutionConstraint, SchemaVersion},
};

choice! {
    /// The type of a set.
    pub enum IntentSetType {
        /// The only type there is.
        IntentSet = "intent_set",
    }
}

record! {
    /// Two to twenty intents of one project that are weighed against each other before any of them runs.
    pub struct IntentSetDocument {
        /// Its id.
        id: IntentSetId,
        /// Always `intent_set`.
        kind = "type": IntentSetType,
        /// The version of this form.
        schema_version: SchemaVersion,
        /// When it was put together.
        created_at: Timestamp,
        /// Which intents; each lies in a file named after it.
        intent_ids: Distinct<IntentId, 2, 20>,
        /// What they have in common.
        context: SetContext,
        /// Where it comes from.
        lineage: SetLineage,
        /// That nothing here is executed; may be left out.
        constraints: Option<ExecutionConstraint>,
        /// The SHA-256 of the canonical `{context, intent_ids}`, ids sorted.
        checksum: Checksum,
    }
}

record! {
    /// What the intents of a set have in common.
    pub struct SetContext {
        /// The project of each of them.
        project_id: Text<1, 128>,
        /// Where they take place, unless one says otherwise.
        env: Environment,
        /// When they are to take place.
        time_window: Option<TimeWindow>,
        /// Labels.
        tags: Option<List<Text<1, 64>, 0, 50>>,
    }
}

record! {
    /// A span of time.
    pub struct TimeWindow {
        /// From.
        start: Timestamp,
        /// Until.
        end: Timestamp,
    }
}

record! {
    /// Where a set comes from.
    pub struct SetLineage {
        /// The version of the form it was introduced in.
        introduced_in: Version,
        /// The sets it was made from.
        derived_from: List<IntentSetId, 0, 200>,
    }
}
