//! Whether a graph keeps its promises, whoever made it: no circle, everything reached, everybody in one lane, every
//! change behind a review.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    vec::Vec,
};

use countersign_canon::{Issue, Issues, Pointer};

use crate::{
    NodeId,
    code::codes,
    wire::{ExecutionGraph, Node, NodeType},
};

/// Everything that is wrong with a graph; `must_review` says whether changes need a review before them.
pub(crate) fn check_graph(graph: &ExecutionGraph, must_review: bool) -> Issues {
    let mut issues = Issues::new();
    let at = Pointer::root().key("graph");
    let mut position: BTreeMap<&NodeId, usize> = BTreeMap::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        if position.insert(&node.node_id, index).is_some() {
            let issue =
                Issue::new(codes::DRY_RUN_DANGLING, format!("`{}` stands for two nodes", node.node_id));
            issues.push(issue.with_pointer(at.key("nodes").index(index).key("node_id")));
        }
    }
    let mut after: Vec<Vec<usize>> = graph.nodes.iter().map(|_| Vec::new()).collect();
    for (index, edge) in graph.edges.iter().enumerate() {
        let place = at.key("edges").index(index);
        match (position.get(&edge.from_node), position.get(&edge.to_node)) {
            (Some(&from), Some(&to)) => after.get_mut(from).into_iter().for_each(|list| list.push(to)),
            (None, _) => issues.push(dangling(&edge.from_node, place.key("from_node"))),
            (Some(_), None) => issues.push(dangling(&edge.to_node, place.key("to_node"))),
        }
    }
    lanes(graph, &position, &mut issues);
    walk(graph, &after, must_review, &mut issues);
    issues
}

fn dangling(id: &NodeId, place: Pointer) -> Issue {
    Issue::new(codes::DRY_RUN_DANGLING, format!("there is no node `{id}`")).with_pointer(place)
}

fn lanes(graph: &ExecutionGraph, position: &BTreeMap<&NodeId, usize>, issues: &mut Issues) {
    let at = Pointer::root().key("graph").key("swimlanes");
    let mut seen: BTreeSet<&NodeId> = BTreeSet::new();
    for (lane, swimlane) in graph.swimlanes.iter().enumerate() {
        for (index, id) in swimlane.node_ids.iter().enumerate() {
            let place = at.index(lane).key("node_ids").index(index);
            if !position.contains_key(id) {
                issues.push(dangling(id, place.clone()));
            }
            if !seen.insert(id) {
                issues.push(
                    Issue::new(codes::DRY_RUN_LANES, format!("`{id}` stands in two lanes"))
                        .with_pointer(place),
                );
            }
        }
    }
    for node in graph.nodes.iter().filter(|node| !seen.contains(&node.node_id)) {
        let issue = Issue::new(codes::DRY_RUN_LANES, format!("`{}` stands in no lane", node.node_id));
        issues.push(issue.with_pointer(at.clone()));
    }
}

/// Walks in the order of edges from the first node, remembering who has passed a review on every way.
fn walk(graph: &ExecutionGraph, after: &[Vec<usize>], must_review: bool, issues: &mut Issues) {
    let count = graph.nodes.len();
    let mut open: Vec<usize> = alloc::vec![0; count];
    for &to in after.iter().flatten() {
        open.get_mut(to).into_iter().for_each(|open| *open = open.saturating_add(1));
    }
    let mut is_reached: Vec<bool> = (0..count).map(|index| index == 0).collect();
    let mut is_reviewed: Vec<bool> = alloc::vec![false; count];
    let mut ready: BTreeSet<usize> =
        open.iter().enumerate().filter(|(_, open)| **open == 0).map(|(at, _)| at).collect();
    let mut walked = 0_usize;
    while let Some(index) = ready.pop_first() {
        walked = walked.saturating_add(1);
        let Some(node) = graph.nodes.get(index) else { continue };
        let reached = is_reached.get(index).copied().unwrap_or(false);
        let reviewed = is_reviewed.get(index).copied().unwrap_or(false);
        judge(node, index, reached, reviewed || !must_review, issues);
        let passes = reviewed || node.node_type == NodeType::ReviewCheckpoint;
        for &next in after.get(index).into_iter().flatten() {
            is_reached.get_mut(next).into_iter().for_each(|slot| *slot |= reached);
            is_reviewed.get_mut(next).into_iter().for_each(|slot| *slot |= passes);
            if let Some(open) = open.get_mut(next) {
                *open = open.saturating_sub(1);
                if *open == 0 {
                    ready.insert(next);
                }
            }
        }
    }
    if walked < count {
        let message = format!("{} nodes stand in a circle or behind one", count.saturating_sub(walked));
        issues.push(
            Issue::new(codes::DRY_RUN_CYCLE, message).with_pointer(Pointer::root().key("graph").key("edges")),
        );
    }
}

fn judge(node: &Node, index: usize, is_reached: bool, is_reviewed: bool, issues: &mut Issues) {
    let place = Pointer::root().key("graph").key("nodes").index(index);
    if !is_reached {
        let issue = Issue::new(codes::DRY_RUN_UNREACHABLE, format!("`{}` cannot be reached", node.node_id));
        issues.push(issue.with_pointer(place.clone()));
    }
    let changes = node.effects.iter().any(|effect| effect.is_write_like());
    if node.node_type == NodeType::ActionPlan && changes && !is_reviewed {
        let message = format!("`{}` changes something and no review comes before it", node.node_id);
        issues.push(Issue::new(codes::DRY_RUN_UNGUARDED, message).with_pointer(place));
    }
}
