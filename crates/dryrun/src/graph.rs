//! Laying out the graph: decisions, then phase by phase the reviews and behind them the actions.

mod check;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{Distinct, List, Text};
use countersign_intent::{
    EffectSet, EvidenceRef, IntentId,
    wire::{Effect, Operation, Review, RiskLevel},
};

use crate::{
    EdgeId, NodeId, Source,
    command_set::CommandSet,
    review::{Reviews, reviews_of},
    wire::{Edge, EdgeType, ExecutionGraph, Node, NodeType, ResultLineage, Swimlane},
    work::{PhaseSlot, Step, Work},
};

pub(crate) use crate::graph::check::check_graph;

const LABEL_CHARS: usize = 240;
const EVIDENCE_MAX: usize = 200;

/// Lays out the graph; nothing if it would break its own form.
pub(crate) fn lay_out(
    source: &Source,
    work: &Work<'_>,
    reviews: &Reviews,
    lineage: ResultLineage,
) -> Option<ExecutionGraph> {
    let mut layout = Layout { work, reviews, nodes: Vec::new(), edges: Vec::new(), lanes: BTreeMap::new() };
    let mut ends = layout.decisions(source)?;
    for (index, slot) in work.phases.iter().enumerate() {
        ends = layout.phase(index, slot, &ends)?;
    }
    layout.finish(lineage)
}

struct Layout<'l, 'w> {
    work: &'l Work<'w>,
    reviews: &'l Reviews,
    nodes: Vec<Node>,
    edges: Vec<(NodeId, NodeId, Option<String>)>,
    lanes: BTreeMap<usize, Vec<NodeId>>,
}

/// What waits for the next phase: a node, and the condition on the way from it.
type End = (NodeId, Option<String>);

impl Layout<'_, '_> {
    fn node(&mut self, lane: usize, node: Node) {
        self.lanes.entry(lane).or_default().push(node.node_id.clone());
        self.nodes.push(node);
    }

    fn edge(&mut self, from: &NodeId, to: &NodeId, condition: Option<String>) {
        self.edges.push((from.clone(), to.clone(), condition));
    }

    /// One decision for each intent that lost, in the order in which the evaluation says so.
    fn decisions(&mut self, source: &Source) -> Option<Vec<End>> {
        let mut ends: Vec<End> = Vec::new();
        let mut seen: BTreeSet<(&IntentId, &IntentId)> = BTreeSet::new();
        for operation in source.choices() {
            let (lost, Some(kept)) = (&operation.source_intent_id, operation.other_intent_id.as_ref()) else {
                continue;
            };
            if !seen.insert((kept, lost)) {
                continue;
            }
            let node_id = numbered("decision", seen.len())?;
            let evidence = decision_evidence(source, operation, kept);
            let node = Node {
                node_id: node_id.clone(),
                node_type: NodeType::DecisionPoint,
                label: Text::new(format!("{kept} is kept, {lost} is superseded"))?,
                evidence_refs: List::new(evidence.into_iter().take(EVIDENCE_MAX).collect())?,
                effects: Distinct::new(Vec::new())?,
                risk_level: self.work.document.risk.overall,
                command_ref: None,
                phase_ref: None,
                review_criteria: None,
            };
            self.node(0, node);
            for (from, condition) in ends {
                self.edge(&from, &node_id, condition);
            }
            ends = [(node_id, Some(format!("{kept} was chosen over {lost}")))].into();
        }
        Some(ends)
    }

    /// A phase, its review and its actions; gives what the next phase waits for.
    fn phase(&mut self, index: usize, slot: &PhaseSlot<'_>, before: &[End]) -> Option<Vec<End>> {
        let work = self.work;
        let steps: Vec<(usize, &Step<'_>)> =
            slot.commands.iter().filter_map(|command| Some((command, work.step(command)?))).collect();
        let lane = steps.first().map_or(0, |(_, step)| step.lane);
        let phase_id = numbered("phase", index.saturating_add(1))?;
        let phase_ref: Text<1, 200> = Text::new(format!("{}/{}", slot.workflow, slot.phase))?;
        let mut evidence: Vec<EvidenceRef> =
            [work.place(&format!("selected_workflows/{}", slot.workflow_index))].into();
        if work.registry.is_some() {
            evidence.extend(EvidenceRef::parse(&format!("registry://workflows/{}", slot.workflow)).ok());
        }
        let node = Node {
            node_id: phase_id.clone(),
            node_type: NodeType::Phase,
            label: Text::new(format!("{} ({})", slot.phase, slot.workflow))?,
            evidence_refs: List::new(evidence)?,
            effects: effects_of(steps.iter().map(|(_, step)| *step))?,
            risk_level: risk_of(steps.iter().map(|(_, step)| *step)),
            command_ref: None,
            phase_ref: Some(phase_ref.clone()),
            review_criteria: None,
        };
        self.node(lane, node);
        for (from, condition) in before {
            self.edge(from, &phase_id, condition.clone());
        }
        let review = self.review(index, &steps, &phase_id, &phase_ref)?;
        self.actions(&steps, &phase_id, &phase_ref, review.as_ref())?;
        let followed = steps.iter().fold(CommandSet::NONE, |all, (_, step)| all.with(step.directly_before));
        let ends: Option<Vec<End>> = steps
            .iter()
            .filter(|(command, _)| !followed.contains(*command))
            .map(|(command, _)| Some((action_id(*command)?, None)))
            .collect();
        ends.map(|ends| if ends.is_empty() { [(phase_id, None)].into() } else { ends })
    }

    /// The review of a phase, if something in it changes something and somebody must look.
    fn review(
        &mut self,
        index: usize,
        steps: &[(usize, &Step<'_>)],
        phase_id: &NodeId,
        phase_ref: &Text<1, 200>,
    ) -> Option<Option<(NodeId, String)>> {
        let guarded: Vec<&Step<'_>> =
            steps.iter().map(|(_, step)| *step).filter(|step| step.is_write_like()).collect();
        if guarded.is_empty() || self.reviews.all.is_empty() {
            return Some(None);
        }
        let asked = self.work.document.risk.requires_review.iter().copied();
        let by_path = self.work.paths_of(&guarded).flat_map(reviews_of);
        let criteria: BTreeSet<Review> =
            asked.chain(by_path.filter(|review| self.reviews.all.contains(review))).collect();
        let who: Vec<&str> = criteria.iter().map(|review| review.as_str()).collect();
        let who = who.join(", ");
        let node_id = numbered("review", index.saturating_add(1))?;
        let node = Node {
            node_id: node_id.clone(),
            node_type: NodeType::ReviewCheckpoint,
            label: Text::new(format!("review by {who}"))?,
            evidence_refs: List::new([self.work.place("risk/requires_review")].into())?,
            effects: effects_of(guarded.iter().copied())?,
            risk_level: risk_of(guarded.iter().copied()),
            command_ref: None,
            phase_ref: Some(phase_ref.clone()),
            review_criteria: Some(Distinct::new(criteria.into_iter().collect())?),
        };
        self.node(guarded.first().map_or(0, |step| step.lane), node);
        self.edge(phase_id, &node_id, None);
        Some(Some((node_id, format!("approved by {who}"))))
    }

    fn actions(
        &mut self,
        steps: &[(usize, &Step<'_>)],
        phase_id: &NodeId,
        phase_ref: &Text<1, 200>,
        review: Option<&(NodeId, String)>,
    ) -> Option<()> {
        let mut behind_review = CommandSet::NONE;
        for (command, step) in steps {
            let node_id = action_id(*command)?;
            self.node(step.lane, self.action(*command, step, phase_ref)?);
            for earlier in step.directly_before.iter() {
                self.edge(&action_id(earlier)?, &node_id, None);
            }
            let is_behind = !step.before.both(behind_review).is_empty();
            match review {
                Some((review, condition)) if step.is_write_like() => {
                    if !is_behind {
                        self.edge(review, &node_id, Some(condition.clone()));
                    }
                    behind_review.insert(*command);
                }
                Some(_) | None if step.directly_before.is_empty() => self.edge(phase_id, &node_id, None),
                Some(_) | None => (),
            }
        }
        Some(())
    }

    fn action(&self, command: usize, step: &Step<'_>, phase_ref: &Text<1, 200>) -> Option<Node> {
        let quote = self.work.named.quoted(step.command.intent.as_str(), LABEL_CHARS);
        let own = step.evidence.iter().map(|(reference, _)| (*reference).clone());
        let evidence = [self.work.place(&format!("planned_commands/{command}"))].into_iter().chain(own);
        Some(Node {
            node_id: action_id(command)?,
            node_type: NodeType::ActionPlan,
            label: Text::new(format!("{}: {quote}", step.command.command_id))?,
            evidence_refs: List::new(evidence.collect())?,
            effects: effects_of([step])?,
            risk_level: step.command.risk_level,
            command_ref: Some(step.command.command_id.clone()),
            phase_ref: Some(phase_ref.clone()),
            review_criteria: None,
        })
    }

    fn finish(self, lineage: ResultLineage) -> Option<ExecutionGraph> {
        let mut fan: BTreeMap<&NodeId, usize> = BTreeMap::new();
        for (from, _, _) in &self.edges {
            let count = fan.entry(from).or_default();
            *count = count.saturating_add(1);
        }
        let edges = self.edges.iter().enumerate().map(|(index, (from, to, condition))| {
            let edge_type = match (condition, fan.get(from)) {
                (Some(_), _) => EdgeType::Conditional,
                (None, Some(2..)) => EdgeType::Parallel,
                (None, Some(_) | None) => EdgeType::Sequential,
            };
            Some(Edge {
                edge_id: EdgeId::parse(&format!("edge_{:03}", index.saturating_add(1))).ok()?,
                from_node: from.clone(),
                to_node: to.clone(),
                edge_type,
                condition: condition.clone().map_or(Some(None), |text| Text::new(text).map(Some))?,
            })
        });
        let edges: Option<Vec<Edge>> = edges.collect();
        let lanes = self.work.lanes.iter().enumerate().map(|(index, agent)| {
            let node_ids = List::new(self.lanes.get(&index).cloned().unwrap_or_default())?;
            Some(Swimlane { agent_id: (*agent).clone(), node_ids })
        });
        let lanes: Option<Vec<Swimlane>> = lanes.collect();
        Some(ExecutionGraph {
            nodes: List::new(self.nodes)?,
            edges: List::new(edges?)?,
            swimlanes: List::new(lanes?)?,
            lineage,
            checksum: crate::plan::not_yet(),
        })
    }
}

/// What a choice between two intents is founded on: the field that was overridden, and every conflict between the two.
fn decision_evidence(source: &Source, operation: &Operation, kept: &IntentId) -> BTreeSet<EvidenceRef> {
    let lost = &operation.source_intent_id;
    let field = operation.target_field.as_str();
    let own = [lost, kept].map(|id| EvidenceRef::parse(&format!("intent://{id}/{field}")).ok());
    let conflicts =
        source.evaluation().map(|evaluation| evaluation.evaluation.conflicts.as_slice()).unwrap_or_default();
    let between = conflicts
        .iter()
        .filter(|conflict| conflict.intent_ids.contains(lost) && conflict.intent_ids.contains(kept));
    let references = between.flat_map(|conflict| conflict.evidence_refs.iter().cloned());
    own.into_iter().flatten().chain(references).collect()
}

fn numbered(kind: &str, number: usize) -> Option<NodeId> {
    NodeId::parse(&format!("{kind}_{number:03}")).ok()
}

/// Actions are numbered as the intent lists its commands.
fn action_id(command: usize) -> Option<NodeId> {
    numbered("action", command.saturating_add(1))
}

fn effects_of<'s>(steps: impl IntoIterator<Item = &'s Step<'s>>) -> Option<Distinct<Effect, 0, 9>> {
    let effects: EffectSet =
        steps.into_iter().flat_map(|step| step.command.effects.iter().copied()).collect();
    Distinct::new(effects.iter().collect())
}

fn risk_of<'s>(steps: impl IntoIterator<Item = &'s Step<'s>>) -> RiskLevel {
    steps.into_iter().map(|step| step.command.risk_level).max().unwrap_or(RiskLevel::Low)
}
