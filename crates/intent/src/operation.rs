//! The steps of a merge, in order, each with its reason.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::Text;

use crate::{
    OpId,
    detect::{Edge, Field, Finding},
    resolve::Settlement,
    wire::{ConflictType, Operation, OperationKind, Severity},
};

/// The order in which the kept intents run: whoever is needed comes first; else by time, then by id.
///
/// Whoever is in a circle is drawn by time, then by id: a picture has an order also where work has none. What is merged has
/// no circles: they are looked for before.
pub(crate) fn run_order(
    field: &Field<'_>,
    edges: &BTreeMap<(usize, usize), Vec<Edge>>,
    kept: &[usize],
) -> Vec<usize> {
    let mut waiting: BTreeMap<usize, BTreeSet<usize>> =
        kept.iter().map(|&index| (index, BTreeSet::new())).collect();
    for (earlier, later) in
        edges.keys().filter(|(earlier, later)| kept.contains(earlier) && kept.contains(later))
    {
        waiting.entry(*later).or_default().insert(*earlier);
    }
    let key = |index: usize| field.intent(index).map(|intent| (intent.document().created_at, intent.id()));
    let mut order = Vec::new();
    while !waiting.is_empty() {
        let ready = waiting.iter().filter(|(_, before)| before.is_empty()).map(|(index, _)| *index);
        let next = ready
            .min_by_key(|&index| key(index))
            .or_else(|| waiting.keys().copied().min_by_key(|&index| key(index)));
        let Some(next) = next else { break };
        waiting.remove(&next);
        for before in waiting.values_mut() {
            before.remove(&next);
        }
        order.push(next);
    }
    order
}

/// What is known when writing the steps down.
#[derive(Debug)]
pub(crate) struct Writer<'w> {
    pub(crate) field: &'w Field<'w>,
    pub(crate) edges: &'w BTreeMap<(usize, usize), Vec<Edge>>,
    pub(crate) findings: &'w [Finding],
    pub(crate) settlement: &'w Settlement,
}

/// A step before it is numbered.
struct Step {
    kind: OperationKind,
    source: usize,
    field: &'static str,
    evidence: String,
    other: Option<usize>,
}

impl Writer<'_> {
    /// The steps; nothing if one would break the form.
    pub(crate) fn operations(&self, order: &[usize]) -> Option<Vec<Operation>> {
        let mut steps = self.overrides();
        if order.len() > 1 {
            steps.extend(order.iter().flat_map(|&source| self.union(source)));
        }
        steps.extend(self.warnings());
        steps.extend(self.order(order));
        let numbered = steps.into_iter().enumerate();
        numbered.map(|(index, step)| self.operation(index.saturating_add(1), step)).collect()
    }

    fn operation(&self, number: usize, step: Step) -> Option<Operation> {
        let id = |index: usize| Some(self.field.intent(index)?.id().clone());
        let other_intent_id = match step.other {
            Some(other) => Some(id(other)?),
            None => None,
        };
        Some(Operation {
            op_id: OpId::parse(&format!("op_{number:03}")).ok()?,
            operation: step.kind,
            source_intent_id: id(step.source)?,
            target_field: Text::new(step.field.into())?,
            evidence: Text::new(step.evidence)?,
            other_intent_id,
        })
    }

    fn overrides(&self) -> Vec<Step> {
        let lost = self.settlement.superseded.iter().map(|(&source, superseded)| Step {
            kind: OperationKind::OverrideField,
            source,
            field: "planned_commands",
            evidence: superseded.rung.clone(),
            other: Some(superseded.by),
        });
        let mut wins: BTreeMap<usize, usize> = BTreeMap::new();
        for superseded in self.settlement.superseded.values() {
            wins.entry(superseded.by).and_modify(|count| *count = count.saturating_add(1)).or_insert(1);
        }
        let won = wins.into_iter().map(|(source, count)| Step {
            kind: OperationKind::KeepField,
            source,
            field: "planned_commands",
            evidence: format!("supersedes {count} of the set"),
            other: None,
        });
        lost.chain(won).collect()
    }

    fn union(&self, source: usize) -> Vec<Step> {
        let Some(intent) = self.field.intent(source) else { return Vec::new() };
        let document = intent.document();
        let step = |kind: OperationKind, field: &'static str, evidence: String| Step {
            kind,
            source,
            field,
            evidence,
            other: None,
        };
        let plural = |count: usize, what: &str| match count {
            1 => format!("1 {what}"),
            count => format!("{count} {what}s"),
        };
        let budgets = &document.budgets;
        [
            step(
                OperationKind::UnionCommands,
                "planned_commands",
                plural(document.planned_commands.len(), "command"),
            ),
            step(
                OperationKind::UnionWorkflows,
                "selected_workflows",
                plural(document.selected_workflows.len(), "workflow"),
            ),
            step(
                OperationKind::UnionAgents,
                "selected_agents",
                plural(document.selected_agents.len(), "agent"),
            ),
            step(
                OperationKind::UnionEvidence,
                "evidence_refs",
                plural(document.evidence_refs.len(), "reference"),
            ),
            step(
                OperationKind::MergeBudgets,
                "budgets",
                format!(
                    "adds {} files, {} commits, {} tokens, {} dollars",
                    budgets.max_files.get(),
                    budgets.max_commits.get(),
                    budgets.max_tokens.get(),
                    budgets.max_cost_usd
                ),
            ),
            step(
                OperationKind::AggregateRisk,
                "risk",
                format!("its overall risk is {}", document.risk.overall),
            ),
        ]
        .into()
    }

    /// What the superseded ones warned of stays in force.
    fn warnings(&self) -> Vec<Step> {
        let lost = self.settlement.superseded.keys().map(|&source| Step {
            kind: OperationKind::AggregateRisk,
            source,
            field: "risk",
            evidence: "superseded; its drivers and reviews stay in force".into(),
            other: None,
        });
        lost.collect()
    }

    /// Who runs after whom, as steps.
    fn order(&self, order: &[usize]) -> Vec<Step> {
        let pairs = ordered_pairs(self.edges, self.findings, order);
        let steps = pairs.into_iter().map(|Ordered { earlier, later, reason }| Step {
            kind: OperationKind::OrderPhases,
            source: later,
            field: "selected_workflows",
            evidence: reason,
            other: Some(earlier),
        });
        steps.collect()
    }
}

/// That one kept intent runs after another, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ordered {
    pub(crate) earlier: usize,
    pub(crate) later: usize,
    pub(crate) reason: String,
}

/// Who of the kept, which run in this order, runs after whom: those that need another, then those that change what another
/// changes. The plan's steps and the merged intent's own order are both taken from here.
pub(crate) fn ordered_pairs(
    edges: &BTreeMap<(usize, usize), Vec<Edge>>,
    findings: &[Finding],
    order: &[usize],
) -> Vec<Ordered> {
    let place = |index: usize| order.iter().position(|&ordered| ordered == index);
    let mut pairs: BTreeMap<(usize, usize), Ordered> = BTreeMap::new();
    let mut add = |earlier: usize, later: usize, reason: String| {
        let (Some(before), Some(after)) = (place(earlier), place(later)) else { return };
        pairs.entry((after, before)).or_insert(Ordered { earlier, later, reason });
    };
    for ((earlier, later), reasons) in edges {
        let why: Vec<String> = reasons.iter().take(3).map(|edge| edge.reason.text()).collect();
        add(*earlier, *later, format!("comes after: {}", why.join(", ")));
    }
    let shared = findings
        .iter()
        .filter(|finding| finding.kind == ConflictType::Resource && finding.severity >= Severity::Medium);
    for finding in shared {
        if let [a, b] = finding.intents.as_slice() {
            let (earlier, later) = if place(*a) <= place(*b) { (*a, *b) } else { (*b, *a) };
            let what = finding.resource.as_deref().unwrap_or("one thing");
            let what: String = what.chars().take(1000).collect();
            add(
                earlier,
                later,
                format!(
                    "comes after, because both change `{what}`: by time, then by id, where nothing else says so"
                ),
            );
        }
    }
    pairs.into_values().collect()
}
