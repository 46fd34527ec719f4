//! The graph as a picture: lanes side by side, time going down, a bar for each phase, a gate before what it guards.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use countersign_intent::svg::{Drawing, risk_colour, shortened};

use crate::{
    NodeId,
    explain::{effects, reviewers, summary},
    wire::{DryExecutionResult, Edge, Node, NodeType, RollbackStrategy},
};

const WIDTH: i64 = 1200;
const MARGIN: i64 = 24;
const BAR: i64 = 34;
const BOX: i64 = 78;
const GAP: i64 = 26;
const INK: &str = "#1f2328";
const QUIET: &str = "#57606a";
const ARROW: &str = "#8c959f";
const GATE: &str = "#8250df";

/// The graph as an SVG of 1200 units' width.
#[must_use]
pub fn explain_svg(result: &DryExecutionResult) -> String {
    let picture = Picture::of(result);
    let mut drawing = Drawing::new(WIDTH);
    let top = header(result, &mut drawing);
    let bottom = picture.lanes(top, &mut drawing);
    picture.edges(top, &mut drawing);
    picture.nodes(top, &mut drawing);
    let bottom = tables(result, bottom.saturating_add(34), &mut drawing);
    drawing.finish(bottom.saturating_add(MARGIN))
}

fn header(result: &DryExecutionResult, drawing: &mut Drawing) -> i64 {
    let stub = &result.review_pack_stub;
    let risk = stub.risk_summary.dominant_risk;
    drawing.title(MARGIN, 44, &format!("Dry run of {}", result.intent_ref.intent_id));
    drawing.text(MARGIN, 72, INK, &format!("{}; nothing was done", summary(result)));
    drawing.rectangle([MARGIN, 84, 12, 12], risk_colour(risk), "none");
    let minutes = stub.estimated_review_time.minutes.get();
    drawing.text(
        44,
        95,
        INK,
        &format!("risk {risk}; review by {}, about {minutes} minutes", reviewers(result)),
    );
    drawing.small(MARGIN, 118, &format!("{}  {}", result.result_id, result.created_at));
    let mut y = 118;
    for warning in result.metadata.warnings.iter().take(4) {
        y = i64::saturating_add(y, 20);
        drawing.text(
            MARGIN,
            y,
            "#9a6700",
            &shortened(&format!("{}: {}", warning.code, warning.message.as_str()), 150),
        );
    }
    let y = legend(y, drawing);
    y.saturating_add(18)
}

/// What the colours mean.
fn legend(y: i64, drawing: &mut Drawing) -> i64 {
    use countersign_intent::wire::RiskLevel;
    let mut x = 800;
    for level in RiskLevel::ALL {
        drawing.rectangle([x, 33, 12, 12], risk_colour(*level), "none");
        drawing.small(i64::saturating_add(x, 18), 44, level.as_str());
        x = x.saturating_add(84);
    }
    drawing.diamond(806, 66, 7, GATE);
    drawing.small(818, 71, "review gate: nothing behind it starts unreviewed");
    y
}

/// Where everything stands.
struct Picture<'r> {
    result: &'r DryExecutionResult,
    /// Lanes that hold something to do, by agent.
    lanes: Vec<&'r str>,
    /// Top, relative to the first row, and lane; bars have none.
    places: BTreeMap<&'r NodeId, (i64, Option<usize>)>,
    height: i64,
}

impl<'r> Picture<'r> {
    fn of(result: &'r DryExecutionResult) -> Self {
        let graph = &result.graph;
        let mut agent: BTreeMap<&NodeId, &str> = BTreeMap::new();
        for lane in graph.swimlanes.iter() {
            agent.extend(lane.node_ids.iter().map(|id| (id, lane.agent_id.as_str())));
        }
        let acts = |name: &str| {
            let mut nodes = graph.nodes.iter().filter(|node| node.node_type == NodeType::ActionPlan);
            nodes.any(|node| agent.get(&node.node_id) == Some(&name))
        };
        let mut lanes: Vec<&str> = graph.swimlanes.iter().map(|lane| lane.agent_id.as_str()).collect();
        if lanes.iter().any(|name| acts(name)) {
            lanes.retain(|name| acts(name));
        }
        let mut places: BTreeMap<&NodeId, (i64, Option<usize>)> = BTreeMap::new();
        let (mut y, mut free) = (0_i64, BTreeMap::<usize, i64>::new());
        for node in graph.nodes.iter() {
            if node.node_type == NodeType::ActionPlan {
                let lane =
                    agent.get(&node.node_id).and_then(|name| lanes.iter().position(|lane| lane == name));
                let lane = lane.unwrap_or(0);
                // Below what it comes after, and below what stands in its lane already.
                let after = graph.edges.iter().filter(|edge| edge.to_node == node.node_id);
                let after = after.filter_map(|edge| places.get(&edge.from_node));
                let after = after
                    .filter(|(_, lane)| lane.is_some())
                    .map(|(top, _)| top.saturating_add(BOX).saturating_add(GAP));
                let top = after.max().unwrap_or(y).max(free.get(&lane).copied().unwrap_or(y)).max(y);
                free.insert(lane, top.saturating_add(BOX).saturating_add(GAP));
                places.insert(&node.node_id, (top, Some(lane)));
            } else {
                y = free.values().copied().max().unwrap_or(y).max(y);
                free.clear();
                places.insert(&node.node_id, (y, None));
                y = y.saturating_add(BAR).saturating_add(GAP);
            }
        }
        let height = free.values().copied().max().unwrap_or(y).max(y);
        Self { result, lanes, places, height }
    }

    fn lane_width(&self) -> i64 {
        let count = i64::try_from(self.lanes.len()).unwrap_or(1).max(1);
        WIDTH.saturating_sub(MARGIN.saturating_mul(2)).checked_div(count).unwrap_or(WIDTH)
    }

    fn lane_left(&self, lane: usize) -> i64 {
        i64::try_from(lane).unwrap_or(0).saturating_mul(self.lane_width()).saturating_add(MARGIN)
    }

    fn lane_middle(&self, lane: usize) -> i64 {
        self.lane_left(lane).saturating_add(self.lane_width().div_euclid(2))
    }

    /// Draws the lanes; gives where they end.
    fn lanes(&self, top: i64, drawing: &mut Drawing) -> i64 {
        for (index, name) in self.lanes.iter().enumerate() {
            let fill = if index.is_multiple_of(2) { "#ffffff" } else { "#f0f3f6" };
            let x = self.lane_left(index);
            drawing.rectangle([x, top, self.lane_width(), self.height.saturating_add(40)], fill, "#d0d7de");
            let room = usize::try_from(self.lane_width().div_euclid(9)).unwrap_or(8);
            drawing.bold(x.saturating_add(12), top.saturating_add(24), &shortened(name, room));
        }
        top.saturating_add(self.height).saturating_add(40)
    }

    fn edges(&self, top: i64, drawing: &mut Drawing) {
        for edge in self.result.graph.edges.iter() {
            if let Some(ends) = self.ends(edge, top) {
                drawing.arrow_down(ends, ARROW);
            }
        }
    }

    /// From the foot of the earlier one to the head of the later one.
    fn ends(&self, edge: &Edge, top: i64) -> Option<[i64; 4]> {
        let first = self.row(top);
        let (from, to) = (self.places.get(&edge.from_node)?, self.places.get(&edge.to_node)?);
        let middle = WIDTH.div_euclid(2);
        let (x1, x2) = match (from.1, to.1) {
            (Some(a), Some(b)) => (self.lane_middle(a), self.lane_middle(b)),
            (Some(a), None) => (self.lane_middle(a), self.lane_middle(a)),
            (None, Some(b)) => (self.lane_middle(b), self.lane_middle(b)),
            (None, None) => (middle, middle),
        };
        let foot = if from.1.is_some() { BOX } else { BAR };
        Some([x1, first.saturating_add(from.0).saturating_add(foot), x2, first.saturating_add(to.0)])
    }

    const fn row(&self, top: i64) -> i64 {
        top.saturating_add(40)
    }

    fn nodes(&self, top: i64, drawing: &mut Drawing) {
        for node in self.result.graph.nodes.iter() {
            let Some(&(y, lane)) = self.places.get(&node.node_id) else { continue };
            let y = self.row(top).saturating_add(y);
            match lane {
                Some(lane) => self.action(node, lane, y, drawing),
                None => bar(node, y, drawing),
            }
        }
    }

    fn action(&self, node: &Node, lane: usize, y: i64, drawing: &mut Drawing) {
        let (x, width) = (self.lane_left(lane).saturating_add(10), self.lane_width().saturating_sub(20));
        let colour = risk_colour(node.risk_level);
        drawing.rectangle([x, y, width, BOX], "#ffffff", colour);
        drawing.rectangle([x, y, 8, BOX], colour, colour);
        let text = x.saturating_add(18);
        let room = |unit: i64| usize::try_from(width.saturating_sub(26).div_euclid(unit)).unwrap_or(8);
        let (name, what) = node.label.as_str().split_once(": ").unwrap_or((node.label.as_str(), ""));
        let number = node.node_id.as_str().trim_start_matches("action_").trim_start_matches('0');
        drawing.bold(text, y.saturating_add(23), &shortened(&format!("{number}  {name}"), room(9)));
        drawing.small(text, y.saturating_add(45), &shortened(what, room(7)));
        let facts = format!("{}; risk {}", effects(node), node.risk_level);
        drawing.small(text, y.saturating_add(65), &shortened(&facts, room(7)));
    }
}

/// A phase, a review or a decision: across all lanes, because it holds for all of them.
fn bar(node: &Node, y: i64, drawing: &mut Drawing) {
    let (fill, stroke, ink) = match node.node_type {
        NodeType::ReviewCheckpoint => ("#fbefff", GATE, "#6639ba"),
        NodeType::DecisionPoint => ("#ddf4ff", "#0969da", "#0550ae"),
        NodeType::Phase | NodeType::ActionPlan => ("#eaeef2", "#afb8c1", INK),
    };
    let (x, width) =
        (MARGIN.saturating_add(10), WIDTH.saturating_sub(MARGIN.saturating_mul(2)).saturating_sub(20));
    drawing.rectangle([x, y, width, BAR], fill, stroke);
    let text = y.saturating_add(22);
    if node.node_type == NodeType::ReviewCheckpoint {
        drawing.diamond(x.saturating_add(18), y.saturating_add(17), 9, GATE);
        drawing.rectangle(
            [x.saturating_add(width).saturating_sub(24), y.saturating_add(11), 12, 12],
            risk_colour(node.risk_level),
            "none",
        );
    }
    drawing.text(x.saturating_add(36), text, ink, &shortened(node.label.as_str(), 120));
}

/// Files, commits and what is not known, below the graph.
fn tables(result: &DryExecutionResult, mut y: i64, drawing: &mut Drawing) -> i64 {
    const ROWS_MAX: usize = 12;
    let down = |y: i64| i64::saturating_add(y, 21);
    drawing.bold(MARGIN, y, &format!("Files: {}", result.patch_plan.files.len()));
    drawing.bold(620, y, &format!("Commits: {}", result.commit_plan.commits.len()));
    let (mut left, mut right) = (y, y);
    for file in result.patch_plan.files.iter().take(ROWS_MAX) {
        left = down(left);
        drawing.rectangle([MARGIN, left.saturating_sub(11), 12, 12], risk_colour(file.risk), "none");
        let line = format!("{} {}", file.action, file.path);
        drawing.text(44, left, INK, &shortened(&line, 66));
    }
    for commit in result.commit_plan.commits.iter().take(ROWS_MAX) {
        right = down(right);
        drawing.rectangle([620, right.saturating_sub(11), 12, 12], risk_colour(commit.risk), "none");
        let back =
            if commit.rollback_strategy == RollbackStrategy::Revert { "" } else { ", no plain revert" };
        drawing.text(640, right, INK, &shortened(&format!("{}{back}", commit.title.as_str()), 66));
    }
    for (count, x, place) in
        [(result.patch_plan.files.len(), 44, &mut left), (result.commit_plan.commits.len(), 640, &mut right)]
    {
        if count > ROWS_MAX {
            *place = down(*place);
            drawing.text(x, *place, QUIET, &format!("and {} more", count.saturating_sub(ROWS_MAX)));
        }
    }
    y = left.max(right);
    if !result.patch_plan.unknowns.is_empty() {
        y = y.saturating_add(36);
        drawing.bold(MARGIN, y, &format!("Not known: {}", result.patch_plan.unknowns.len()));
    }
    for unknown in result.patch_plan.unknowns.iter().take(ROWS_MAX) {
        y = down(y);
        drawing.text(
            44,
            y,
            INK,
            &shortened(&format!("{}: {}", unknown.kind, unknown.description.as_str()), 140),
        );
        y = down(y);
        drawing.small(44, y, &shortened(&format!("needed: {}", unknown.needed_evidence.as_str()), 150));
    }
    y
}
