//! The graph as a picture: lanes side by side, time going down, a bar for each phase, a gate before what it guards.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use countersign_intent::svg::{Drawing, risk_colour, shortened};

use crate::{
    NodeId,
    explain::{effects, reviewers, summary},
    wire::{DryExecutionResult, Node, NodeType, RollbackStrategy},
};

const WIDTH: i64 = 1200;
const MARGIN: i64 = 24;
const BAR: i64 = 34;
const BOX: i64 = 78;
const GAP: i64 = 26;
/// The space between a lane's edge and what stands in it, wide enough for an arrow.
const GUTTER: i64 = 20;
/// How far from an action the arrows to and from bars go past it, and those between actions.
const NEAR: i64 = 6;
const FAR: i64 = 13;
const INK: &str = "#1f2328";
const QUIET: &str = "#57606a";
const ARROW: &str = "#8c959f";
const GATE: &str = "#8250df";

/// The graph as an SVG of 1200 units' width.
#[must_use]
pub fn explain_svg(result: &DryExecutionResult) -> String {
    let mut drawing = Drawing::new(WIDTH);
    let top = header(result, &mut drawing);
    let picture = Picture::of(result, top.saturating_add(40));
    picture.lanes(top, &mut drawing);
    picture.edges(&mut drawing);
    picture.nodes(&mut drawing);
    let bottom = tables(result, picture.bottom.saturating_add(34), &mut drawing);
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
        x = x.saturating_add(94);
    }
    drawing.diamond(806, 66, 7, GATE);
    drawing.small(818, 71, "review gate: nothing behind it starts unreviewed");
    y
}

/// A rectangle that a node is drawn in.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Bars have none: they go across all lanes.
    lane: Option<usize>,
    x: i64,
    y: i64,
    width: i64,
    /// Whether nothing stands between it and the bar above it, or the bar below it.
    is_first: bool,
    is_last: bool,
}

impl Place {
    const fn middle(self) -> i64 {
        self.x.saturating_add(self.width.div_euclid(2))
    }

    const fn right(self) -> i64 {
        self.x.saturating_add(self.width)
    }

    const fn foot(self) -> i64 {
        self.y.saturating_add(if self.lane.is_none() { BAR } else { BOX })
    }

    const fn half(self) -> i64 {
        self.y.saturating_add(BOX.div_euclid(2))
    }
}

/// Where everything stands.
struct Picture<'r> {
    result: &'r DryExecutionResult,
    /// Lanes that hold something to do, by agent.
    lanes: Vec<&'r str>,
    agent: BTreeMap<&'r NodeId, &'r str>,
    places: BTreeMap<&'r NodeId, Place>,
    bottom: i64,
}

impl<'r> Picture<'r> {
    fn of(result: &'r DryExecutionResult, top: i64) -> Self {
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
        let mut picture = Self { result, lanes, agent, places: BTreeMap::new(), bottom: top };
        let mut row: Vec<&Node> = Vec::new();
        for node in graph.nodes.iter() {
            if node.node_type == NodeType::ActionPlan {
                row.push(node);
            } else {
                picture.put_actions(&row);
                row.clear();
                picture.put_bar(node);
            }
        }
        picture.put_actions(&row);
        picture
    }

    fn lane_width(&self) -> i64 {
        let count = i64::try_from(self.lanes.len()).unwrap_or(1).max(1);
        WIDTH.saturating_sub(MARGIN.saturating_mul(2)).checked_div(count).unwrap_or(WIDTH)
    }

    fn lane_left(&self, lane: usize) -> i64 {
        i64::try_from(lane).unwrap_or(0).saturating_mul(self.lane_width()).saturating_add(MARGIN)
    }

    fn put_bar(&mut self, node: &'r Node) {
        // As wide as the lanes but for a hair, so that arrows in the gutters start and end at it.
        let (x, y) = (MARGIN.saturating_add(4), self.bottom);
        let width = WIDTH.saturating_sub(x.saturating_mul(2));
        self.places.insert(&node.node_id, Place { lane: None, x, y, width, is_first: true, is_last: true });
        self.bottom = y.saturating_add(BAR).saturating_add(GAP);
    }

    /// Puts the actions of one phase: each below what it comes after, and below what its lane holds already.
    fn put_actions(&mut self, actions: &[&'r Node]) {
        let mut free: BTreeMap<usize, i64> = BTreeMap::new();
        let mut last: BTreeMap<usize, &'r NodeId> = BTreeMap::new();
        for node in actions {
            let name = self.agent.get(&node.node_id);
            let lane = self.lanes.iter().position(|lane| name == Some(lane)).unwrap_or(0);
            let before = self.result.graph.edges.iter().filter(|edge| edge.to_node == node.node_id);
            let before = before.filter_map(|edge| self.places.get(&edge.from_node));
            let below = before.map(|place| place.foot().saturating_add(GAP)).max().unwrap_or(self.bottom);
            let y = below.max(free.get(&lane).copied().unwrap_or(self.bottom));
            let x = self.lane_left(lane).saturating_add(GUTTER);
            let width = self.lane_width().saturating_sub(GUTTER.saturating_mul(2));
            let is_first = free.insert(lane, y.saturating_add(BOX).saturating_add(GAP)).is_none();
            let place = Place { lane: Some(lane), x, y, width, is_first, is_last: true };
            self.places.insert(&node.node_id, place);
            if let Some(above) = last.insert(lane, &node.node_id).and_then(|id| self.places.get_mut(id)) {
                above.is_last = false;
            }
        }
        self.bottom = free.values().copied().max().unwrap_or(self.bottom);
    }

    /// Draws the lanes.
    fn lanes(&self, top: i64, drawing: &mut Drawing) {
        for (index, name) in self.lanes.iter().enumerate() {
            let fill = if index.is_multiple_of(2) { "#ffffff" } else { "#f0f3f6" };
            let x = self.lane_left(index);
            drawing.rectangle([x, top, self.lane_width(), self.bottom.saturating_sub(top)], fill, "#d0d7de");
            let room = usize::try_from(self.lane_width().div_euclid(10)).unwrap_or(8);
            drawing.bold(x.saturating_add(GUTTER), top.saturating_add(24), &shortened(name, room));
        }
    }

    fn edges(&self, drawing: &mut Drawing) {
        for edge in self.result.graph.edges.iter() {
            let (Some(&from), Some(&to)) = (self.places.get(&edge.from_node), self.places.get(&edge.to_node))
            else {
                continue;
            };
            match (from.lane, to.lane) {
                // Past what stands in between: down the gutter, and in or out at the side.
                (None, Some(_)) if !to.is_first => {
                    let x = to.x.saturating_sub(NEAR);
                    drawing.line([x, from.foot(), x, to.half()], ARROW, "none");
                    drawing.arrow([x, to.half(), to.x, to.half()], ARROW);
                }
                (Some(_), None) if !from.is_last => {
                    let x = from.right().saturating_add(NEAR);
                    drawing.line([from.right(), from.half(), x, from.half()], ARROW, "none");
                    drawing.arrow_down([x, from.half(), x, to.y], ARROW);
                }
                (Some(a), Some(b)) if a != b || from.foot().saturating_add(GAP) < to.y => {
                    around(from, to, drawing)
                }
                (Some(_), None) => {
                    drawing.arrow_down([from.middle(), from.foot(), from.middle(), to.y], ARROW)
                }
                (None | Some(_), _) => {
                    drawing.arrow_down([to.middle(), from.foot(), to.middle(), to.y], ARROW)
                }
            }
        }
    }

    fn nodes(&self, drawing: &mut Drawing) {
        for node in self.result.graph.nodes.iter() {
            match self.places.get(&node.node_id) {
                Some(place) if place.lane.is_none() => bar(node, *place, drawing),
                Some(place) => action(node, *place, drawing),
                None => (),
            }
        }
    }
}

/// From the side of the earlier action down the gutter, and in at the head of the later one.
fn around(from: Place, to: Place, drawing: &mut Drawing) {
    let (side, x) = match from.lane > to.lane {
        true => (from.x, from.x.saturating_sub(FAR)),
        false => (from.right(), from.right().saturating_add(FAR)),
    };
    let above = to.y.saturating_sub(GAP.div_euclid(2));
    let into = to.middle().saturating_add(if from.lane == to.lane { 40 } else { 0 });
    drawing.line([side, from.half(), x, from.half()], ARROW, "none");
    drawing.line([x, from.half(), x, above], ARROW, "none");
    drawing.line([x, above, into, above], ARROW, "none");
    drawing.arrow_down([into, above, into, to.y], ARROW);
}

fn action(node: &Node, Place { x, y, width, .. }: Place, drawing: &mut Drawing) {
    let colour = risk_colour(node.risk_level);
    drawing.rectangle([x, y, width, BOX], "#ffffff", colour);
    drawing.rectangle([x, y, 8, BOX], colour, colour);
    let text = x.saturating_add(18);
    let room = |unit: i64| usize::try_from(width.saturating_sub(26).div_euclid(unit)).unwrap_or(8);
    let (name, what) = node.label.as_str().split_once(": ").unwrap_or((node.label.as_str(), ""));
    let number = node.node_id.as_str().trim_start_matches("action_").trim_start_matches('0');
    drawing.bold(text, y.saturating_add(23), &shortened(&format!("{number}  {name}"), room(10)));
    drawing.small(text, y.saturating_add(45), &shortened(what, room(7)));
    let facts = format!("{}; risk {}", effects(node), node.risk_level);
    drawing.small(text, y.saturating_add(65), &shortened(&facts, room(7)));
}

/// A phase, a review or a decision: across all lanes, because it holds for all of them.
fn bar(node: &Node, Place { x, y, width, .. }: Place, drawing: &mut Drawing) {
    let (fill, stroke, ink) = match node.node_type {
        NodeType::ReviewCheckpoint => ("#fbefff", GATE, "#6639ba"),
        NodeType::DecisionPoint => ("#ddf4ff", "#0969da", "#0550ae"),
        NodeType::Phase | NodeType::ActionPlan => ("#eaeef2", "#afb8c1", INK),
    };
    drawing.rectangle([x, y, width, BAR], fill, stroke);
    let mut text = x.saturating_add(14);
    if node.node_type == NodeType::ReviewCheckpoint {
        drawing.diamond(x.saturating_add(20), y.saturating_add(17), 9, GATE);
        let right = x.saturating_add(width).saturating_sub(24);
        drawing.rectangle([right, y.saturating_add(11), 12, 12], risk_colour(node.risk_level), "none");
        text = x.saturating_add(38);
    }
    drawing.text(text, y.saturating_add(22), ink, &shortened(node.label.as_str(), 130));
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
