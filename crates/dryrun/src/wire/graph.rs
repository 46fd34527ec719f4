//! The execution graph: phases, actions, decisions and reviews, in an order that can be kept.

use countersign_canon::{Checksum, Distinct, List, Text, record};
use countersign_intent::{
    AgentId, CommandId, EvidenceRef,
    wire::{Effect, Review, RiskLevel},
};

use crate::{
    EdgeId, NodeId,
    wire::{EdgeType, NodeType, ResultLineage},
};

record! {
    /// The order of work: a graph without circles in which reviews stand before what they guard.
    pub struct ExecutionGraph {
        /// The nodes, in an order that keeps every edge.
        nodes: List<Node, 1, 1000>,
        /// Who comes after whom.
        edges: List<Edge, 0, 10_000>,
        /// Who does what.
        swimlanes: List<Swimlane, 1, 13>,
        /// What it was made from.
        lineage: ResultLineage,
        /// The SHA-256 of the canonical graph without this member.
        checksum: Checksum,
    }
}

record! {
    /// One node of the graph.
    pub struct Node {
        /// Its id.
        node_id: NodeId,
        /// What it stands for.
        node_type: NodeType,
        /// What it is called.
        label: Text<1, 400>,
        /// What it is founded on (DE4).
        evidence_refs: List<EvidenceRef, 1, 200>,
        /// What it would do to the world.
        effects: Distinct<Effect, 0, 9>,
        /// How bad that could be.
        risk_level: RiskLevel,
        /// The command of an action.
        command_ref: Option<CommandId>,
        /// The workflow and phase it belongs to, as `workflow/phase`.
        phase_ref: Option<Text<1, 200>>,
        /// Who must look, at a review.
        review_criteria: Option<Distinct<Review, 1, 7>>,
    }
}

record! {
    /// One node after another.
    pub struct Edge {
        /// Its id.
        edge_id: EdgeId,
        /// The earlier one.
        from_node: NodeId,
        /// The later one.
        to_node: NodeId,
        /// How it follows.
        edge_type: EdgeType,
        /// What must hold, on a conditional edge.
        condition: Option<Text<1, 400>>,
    }
}

record! {
    /// What one agent does.
    pub struct Swimlane {
        /// Who.
        agent_id: AgentId,
        /// Which nodes.
        node_ids: List<NodeId, 0, 1000>,
    }
}
