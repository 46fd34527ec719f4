//! The merge plan: what becomes of a set, step by step, and the intent that comes out.

use alloc::vec::Vec;

use countersign_canon::{Checksum, Json, List, Sha256, Text, Timestamp, choice, record};

use crate::{
    IntentId, MergePlanId, OpId,
    wire::{Forbidden, IntentDocument, OperationKind, RegistryLookup, SchemaVersion, Strategy},
};

choice! {
    /// The type of a merge plan.
    pub enum MergePlanType {
        /// The only type there is.
        IntentMergePlan = "intent_merge_plan",
    }
}

record! {
    /// What becomes of a set of intents: the strategy, its steps in order, and the merged intent unless the set is rejected.
    pub struct MergePlanDocument {
        /// Its id.
        id: MergePlanId,
        /// Always `intent_merge_plan`.
        kind = "type": MergePlanType,
        /// The version of this form.
        schema_version: SchemaVersion,
        /// When it was made.
        created_at: Timestamp,
        /// What was decided.
        strategy: Strategy,
        /// The intents that were weighed.
        source_intent_ids: List<IntentId, 2, 20>,
        /// The steps, in order.
        operations: Vec<Operation>,
        /// The intent that comes out; a rejected set has none.
        result_intent: Option<IntentDocument>,
        /// Where it comes from.
        lineage: PlanLineage,
        /// That nothing here is executed.
        constraints: ExecutionConstraint,
        /// How it was made.
        metadata: Option<PlanMetadata>,
        /// The SHA-256 of the canonical document without this member.
        checksum: Checksum,
    }
    also plan_rules
}

record! {
    /// One step of a merge.
    pub struct Operation {
        /// Its id, counted in order.
        op_id: OpId,
        /// What is done.
        operation: OperationKind,
        /// Whose field it is done with.
        source_intent_id: IntentId,
        /// The field.
        target_field: Text<1, 256>,
        /// Why.
        evidence: Text<1, 4000>,
        /// The intent that runs before it, or that wins over it.
        other_intent_id: Option<IntentId>,
    }
}

record! {
    /// What a plan was made from.
    pub struct PlanLineage {
        /// The intents it was made from.
        derived_from: List<IntentId, 1, 20>,
        /// The intents that lost.
        supersedes: List<IntentId, 0, 20>,
    }
}

record! {
    /// What a document says about execution.
    pub struct ExecutionConstraint {
        /// Nothing here is executed.
        execution: Forbidden,
    }
}

record! {
    /// How a plan or a result was made.
    pub struct PlanMetadata {
        /// The registry that ids were looked up in.
        registry: RegistryNote,
    }
}

record! {
    /// The registry that ids were looked up in.
    pub struct RegistryNote {
        /// Whether they were looked up at all (I5).
        lookup: RegistryLookup,
        /// The SHA-256 of the registry's canonical content, if there was one.
        content: Option<Sha256>,
    }
}

/// RL-E2, as the schema says it.
fn plan_rules() -> [(&'static str, Json<'static>); 1] {
    let text = r#"[
        {"$comment": "RL-E2: what is merged says where it comes from",
         "if": {"properties": {"strategy": {"enum": ["merge_union", "override_by_priority"]}}, "required": ["strategy"]},
         "then": {"required": ["result_intent"],
                  "properties": {"result_intent": {"properties": {"lineage": {"properties": {"derived_from": {"minItems": 1}}}}}}},
         "else": {"not": {"required": ["result_intent"]}}},
        {"$comment": "RL-E2: who overrides says whom",
         "if": {"properties": {"strategy": {"const": "override_by_priority"}}, "required": ["strategy"]},
         "then": {"properties": {"lineage": {"properties": {"supersedes": {"minItems": 1}}},
                                 "result_intent": {"properties": {"lineage": {"properties": {"supersedes": {"minItems": 1}}}}}}}}
    ]"#;
    [("allOf", Json::parse(text.as_bytes()).unwrap_or_else(|_| Json::from(false)))]
}
