//! A set as a graph: intents, who comes before whom, and who is in whose way.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::fmt::Write as _;

use crate::{
    EvaluateOptions, IntentSet,
    evaluate::Weighed,
    operation::run_order,
    risk::risk_entry,
    svg::{Drawing, risk_colour, severity_colour, shortened, wrapped},
    wire::{ConflictType, RiskLevel, Severity},
};

/// A set as a graph, by position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    name: String,
    nodes: Vec<Node>,
    before: Vec<(usize, usize)>,
    conflicts: Vec<Conflict>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Conflict {
    /// Sorted; two or more.
    between: Vec<usize>,
    kind: ConflictType,
    severity: Severity,
    description: String,
}

impl Conflict {
    /// What is drawn for it: a line between two, a chain through more.
    fn links(&self) -> impl Iterator<Item = (usize, usize)> {
        self.between.iter().copied().zip(self.between.iter().copied().skip(1))
    }
}

/// The size of the box of one intent.
const BOX: [i64; 2] = [250, 56];

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
            risk: risk_entry(intent, set.document().context.env).overall_risk,
            column: columns.get(&index).copied().unwrap_or(0),
        });
        let conflicts = weighed.findings().iter().map(|finding| Conflict {
            between: finding.intents.clone(),
            kind: finding.kind,
            severity: finding.severity,
            description: finding.description.clone(),
        });
        Self {
            name: set.document().id.as_str().into(),
            nodes: nodes.collect(),
            before: weighed.edges.keys().copied().collect(),
            conflicts: conflicts.collect(),
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
        for conflict in &self.conflicts {
            let Conflict { kind, severity, .. } = conflict;
            let colour = severity_colour(*severity);
            for (a, b) in conflict.links() {
                writeln!(
                    out,
                    "  {} -> {} [dir=none, style=dashed, constraint=false, label=\"{severity} {kind}\", color=\"{colour}\"];",
                    id(a),
                    id(b)
                )?;
            }
        }
        writeln!(out, "}}")
    }

    /// The graph as a picture: columns in the order of work, dashed lines for conflicts, and below what they are about.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let places = self.places();
        let right = places.iter().map(|(x, _)| x.saturating_add(BOX[0])).max().unwrap_or(0);
        let bottom = places.iter().map(|(_, y)| y.saturating_add(BOX[1])).max().unwrap_or(84);
        let width = right.saturating_add(130).max(900);
        let mut drawing = Drawing::new(width);
        drawing.title(32, 44, &self.name);
        self.draw_lines(&places, &mut drawing);
        for (node, &(x, y)) in self.nodes.iter().zip(&places) {
            drawing.rectangle([x, y, BOX[0], BOX[1]], "#ffffff", "#d0d7de");
            let colour = risk_colour(node.risk);
            drawing.rectangle([x, y, 6, BOX[1]], colour, colour);
            drawing.text(x.saturating_add(16), y.saturating_add(22), "#1f2328", &shortened(&node.id, 28));
            drawing.small(x.saturating_add(16), y.saturating_add(42), &shortened(&node.title, 34));
        }
        let end = self.draw_legend(bottom.saturating_add(40), width, &mut drawing);
        drawing.finish(end)
    }

    /// Where the box of each intent stands.
    fn places(&self) -> Vec<(i64, i64)> {
        let mut rows: BTreeMap<usize, i64> = BTreeMap::new();
        let place = |node: &Node| {
            let row = rows.entry(node.column).or_insert(0);
            let column = i64::try_from(node.column).unwrap_or(0);
            // Every second column stands half a row lower, so that lines do not run through boxes.
            let shift = column.rem_euclid(2).saturating_mul(42);
            let x = column.saturating_mul(370).saturating_add(32);
            let y = row.saturating_mul(84).saturating_add(84).saturating_add(shift);
            *row = row.saturating_add(1);
            (x, y)
        };
        self.nodes.iter().map(place).collect()
    }

    /// One dashed line for each two that are in conflict, in the colour of the gravest, and the arrows of "before".
    fn draw_lines(&self, places: &[(i64, i64)], drawing: &mut Drawing) {
        let place = |index: usize| places.get(index).copied().unwrap_or_default();
        let mut links: BTreeMap<(usize, usize), Severity> = BTreeMap::new();
        for conflict in &self.conflicts {
            for link in conflict.links() {
                let gravest = links.entry(link).or_insert(conflict.severity);
                *gravest = conflict.severity.max(*gravest);
            }
        }
        for ((a, b), severity) in links {
            let ((ax, ay), (bx, by)) = (place(a), place(b));
            let colour = severity_colour(severity);
            let (start, end) = (ay.saturating_add(36), by.saturating_add(36));
            match ax.cmp(&bx) {
                core::cmp::Ordering::Equal => {
                    let swing = by.saturating_sub(ay).saturating_abs().div_euclid(4).clamp(24, 110);
                    drawing.bow([ax.saturating_add(BOX[0]), start, end, swing], colour);
                }
                core::cmp::Ordering::Less => {
                    drawing.line([ax.saturating_add(BOX[0]), start, bx, end], colour, "6 4");
                }
                core::cmp::Ordering::Greater => {
                    drawing.line([ax, start, bx.saturating_add(BOX[0]), end], colour, "6 4");
                }
            }
        }
        for (earlier, later) in &self.before {
            let ((ax, ay), (bx, by)) = (place(*earlier), place(*later));
            let ends = [ax.saturating_add(BOX[0]), ay.saturating_add(20), bx, by.saturating_add(20)];
            drawing.arrow(ends, "#1f2328");
        }
    }

    /// What the lines and colours mean, and each conflict in words; gives the lower end of the picture.
    fn draw_legend(&self, mut y: i64, width: i64, drawing: &mut Drawing) -> i64 {
        let arrows = if self.before.is_empty() { "" } else { "an arrow: comes before; " };
        drawing.small(32, y, &format!("{arrows}a dashed line: conflict; the bar of a box: overall risk"));
        // LIMIT: letters of this size are under seven units wide, on average.
        let characters = usize::try_from(width.saturating_sub(84).div_euclid(7)).unwrap_or(80);
        let id = |index: &usize| self.nodes.get(*index).map_or("", |node| node.id.as_str());
        for Conflict { between, kind, severity, description } in &self.conflicts {
            y = y.saturating_add(26);
            drawing.rectangle([32, y.saturating_sub(10), 10, 10], severity_colour(*severity), "none");
            let names: Vec<&str> = between.iter().map(id).collect();
            let text = format!("{severity} {kind}: {}: {description}", names.join(" × "));
            for (at, line) in wrapped(&text, characters).iter().enumerate() {
                y = if at == 0 { y } else { y.saturating_add(18) };
                drawing.small(52, y, line);
            }
        }
        y.saturating_add(28)
    }
}
