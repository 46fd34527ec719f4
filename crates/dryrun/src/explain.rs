//! Explains a result to a person: what would happen in which order, which files, which commits, who must look.

mod markdown;
mod picture;
mod text;

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Json, Wire};

use crate::wire::{DryExecutionResult, Node, NodeType};

pub use crate::explain::{markdown::explain_markdown, picture::explain_svg, text::explain_text};

/// The explanation as data.
#[must_use]
pub fn explain_json(result: &DryExecutionResult) -> Json<'static> {
    let steps = result.graph.nodes.iter().map(|node| {
        Json::object([
            ("node_id", node.node_id.write()),
            ("node_type", node.node_type.write()),
            ("label", node.label.write()),
            ("risk_level", node.risk_level.write()),
            ("agent_id", Json::from(String::from(lane_of(result, node)))),
            ("after", Json::array(before(result, node).into_iter().map(String::from))),
        ])
    });
    let files = result.patch_plan.files.iter().map(|file| {
        Json::object([
            ("path", file.path.write()),
            ("action", file.action.write()),
            ("risk", file.risk.write()),
        ])
    });
    let commits = result.commit_plan.commits.iter().map(|commit| {
        Json::object([
            ("commit_id", commit.commit_id.write()),
            ("title", commit.title.write()),
            ("files", commit.files.write()),
            ("depends_on", commit.depends_on.write()),
        ])
    });
    Json::object([
        ("result_id", result.result_id.write()),
        ("intent_id", result.intent_ref.intent_id.write()),
        ("summary", Json::from(summary(result))),
        ("steps", Json::array(steps)),
        ("files", Json::array(files)),
        ("unknowns", result.patch_plan.unknowns.write()),
        ("commits", Json::array(commits)),
        ("review", result.review_pack_stub.write()),
        ("warnings", result.metadata.warnings.write()),
    ])
}

/// The plan in one sentence.
fn summary(result: &DryExecutionResult) -> String {
    let count = |kind: NodeType| result.graph.nodes.iter().filter(|node| node.node_type == kind).count();
    format!(
        "{}, {}, {}, {}",
        counted(count(NodeType::ActionPlan), "action"),
        counted(count(NodeType::ReviewCheckpoint), "review"),
        counted(result.patch_plan.files.len(), "file"),
        counted(result.commit_plan.commits.len(), "commit"),
    )
}

fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// The agent in whose lane a node stands.
fn lane_of<'r>(result: &'r DryExecutionResult, node: &Node) -> &'r str {
    let lane = result.graph.swimlanes.iter().find(|lane| lane.node_ids.contains(&node.node_id));
    lane.map_or("", |lane| lane.agent_id.as_str())
}

/// The nodes that a node comes directly after.
fn before<'r>(result: &'r DryExecutionResult, node: &Node) -> Vec<&'r str> {
    let edges = result.graph.edges.iter().filter(|edge| edge.to_node == node.node_id);
    edges.map(|edge| edge.from_node.as_str()).collect()
}

/// Who must look, as words.
fn reviewers(result: &DryExecutionResult) -> String {
    let who: Vec<&str> =
        result.review_pack_stub.requires_review.iter().map(|review| review.as_str()).collect();
    if who.is_empty() { "nobody".into() } else { who.join(", ") }
}

/// What is done to the world, as words.
fn effects(node: &Node) -> String {
    let effects: Vec<&str> = node.effects.iter().map(|effect| effect.as_str()).collect();
    effects.join(", ")
}
