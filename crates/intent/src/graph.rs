//! A set as a graph: intents, who comes before whom, and who is in whose way.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};
use core::fmt::Write as _;

use crate::{
    EvaluateOptions, IntentSet,
    evaluate::Weighed,
    operation::run_order,
    svg::{Drawing, risk_colour, severity_colour, shortened},
    wire::{RiskLevel, Severity},
};

/// A set as a graph, by position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    name: String,
    nodes: Vec<Node>,
    before: Vec<(usize, usize)>,
    conflicts: Vec<(usize, usize, Severity, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    id: String,
    title: String,
    risk: RiskLevel,
    /// How many must come before it, one after the other.
    column: usize,
}

impl Graph {
    /// The graph of a set.
    #[must_use]
    pub fn of(set: &IntentSet, options: EvaluateOptions<'_>) -> Self {
        let weighed = Weighed::new(set, options);
        let everyone: Vec<usize> = (0..set.intents().len()).collect();
        let mut columns: BTreeMap<usize, usize> = BTreeMap::new();
        for index in run_order(&weighed.field, &weighed.edges, &everyone) {
            let before = weighed.edges.keys().filter(|(_, later)| *later == index);
            let columns_before = before.filter_map(|(earlier, _)| columns.get(earlier)).max();
            let column = columns_before.map_or(0, |column| column.saturating_add(1));
            columns.insert(index, column);
        }
        let nodes = set.intents().iter().enumerate().map(|(index, intent)| Node {
            id: intent.id().as_str().into(),
            title: intent.document().title.as_str().into(),
            risk: intent.document().risk.overall,
            column: columns.get(&index).copied().unwrap_or(0),
        });
        let mut conflicts = BTreeSet::new();
        for finding in weighed.findings() {
            for (at, a) in finding.intents.iter().enumerate() {
                for b in finding.intents.iter().skip(at.saturating_add(1)) {
                    conflicts.insert((*a, *b, finding.severity, String::from(finding.kind.as_str())));
                }
            }
        }
        Self {
            name: set.document().id.as_str().into(),
            nodes: nodes.collect(),
            before: weighed.edges.keys().copied().collect(),
            conflicts: conflicts.into_iter().collect(),
        }
    }

    /// The graph for Graphviz.
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _infallible = self.write_dot(&mut out);
        out
    }

    fn write_dot(&self, out: &mut String) -> core::fmt::Result {
        let id = |index: usize| self.nodes.get(index).map_or("", |node| node.id.as_str());
        writeln!(out, "digraph {} {{\n  rankdir=LR;\n  node [shape=box, style=rounded];", self.name)?;
        for node in &self.nodes {
            let title = node.title.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ");
            writeln!(
                out,
                "  {} [label=\"{}\\n{title}\", color=\"{}\"];",
                node.id,
                node.id,
                risk_colour(node.risk)
            )?;
        }
        for (earlier, later) in &self.before {
            writeln!(out, "  {} -> {} [label=\"before\"];", id(*earlier), id(*later))?;
        }
        for (a, b, severity, kind) in &self.conflicts {
            let colour = severity_colour(*severity);
            writeln!(
                out,
                "  {} -> {} [dir=none, style=dashed, constraint=false, label=\"{kind} {severity}\", color=\"{colour}\"];",
                id(*a),
                id(*b)
            )?;
        }
        writeln!(out, "}}")
    }

    /// The graph as a picture: columns in the order of work, dashed lines for conflicts.
    #[must_use]
    pub fn to_svg(&self) -> String {
        const BOX: [i64; 2] = [250, 56];
        let mut rows: BTreeMap<usize, i64> = BTreeMap::new();
        let mut places: Vec<(i64, i64)> = Vec::new();
        for node in &self.nodes {
            let row = rows.entry(node.column).or_insert(0);
            let column = i64::try_from(node.column).unwrap_or(0);
            // Every second column stands half a row lower, so that lines do not run through boxes.
            let shift = column.rem_euclid(2).saturating_mul(52);
            let x = column.saturating_mul(350).saturating_add(32);
            places.push((x, row.saturating_mul(104).saturating_add(84).saturating_add(shift)));
            *row = row.saturating_add(1);
        }
        let place = |index: usize| places.get(index).copied().unwrap_or_default();
        let width = places
            .iter()
            .map(|(x, _)| x.saturating_add(BOX[0]).saturating_add(90))
            .max()
            .unwrap_or(0)
            .max(640);
        let bottom = places.iter().map(|(_, y)| y.saturating_add(BOX[1])).max().unwrap_or(84);
        let mut drawing = Drawing::new(width);
        drawing.title(32, 44, &self.name);
        for (a, b, severity, _) in &self.conflicts {
            let ((ax, ay), (bx, by)) = (place(*a), place(*b));
            let side = |x: i64| x.saturating_add(BOX[0]).saturating_sub(20);
            let ends = [side(ax), ay.saturating_add(28), side(bx), by.saturating_add(28)];
            drawing.line(ends, severity_colour(*severity), "6 4");
        }
        for (earlier, later) in &self.before {
            let ((ax, ay), (bx, by)) = (place(*earlier), place(*later));
            drawing.arrow(
                [ax.saturating_add(BOX[0]), ay.saturating_add(20), bx, by.saturating_add(20)],
                "#1f2328",
            );
        }
        for (index, node) in self.nodes.iter().enumerate() {
            let (x, y) = place(index);
            drawing.rectangle([x, y, BOX[0], BOX[1]], "#ffffff", risk_colour(node.risk));
            drawing.text(x.saturating_add(10), y.saturating_add(22), "#1f2328", &shortened(&node.id, 30));
            drawing.small(x.saturating_add(10), y.saturating_add(42), &shortened(&node.title, 36));
        }
        let mut y = bottom.saturating_add(40);
        for (a, b, severity, kind) in &self.conflicts {
            let id = |index: usize| self.nodes.get(index).map_or("", |node| node.id.as_str());
            drawing.rectangle([32, y.saturating_sub(10), 10, 10], severity_colour(*severity), "none");
            let line = format!("{severity} {kind}: {} × {}", id(*a), id(*b));
            drawing.small(52, y, &shortened(&line, 90));
            y = y.saturating_add(20);
        }
        drawing.finish(y.saturating_add(12))
    }
}
