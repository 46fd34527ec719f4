//! The work of an intent before it is drawn: which phase and agent each command belongs to, what it touches, and which
//! commands of one phase must come one after the other.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};

use countersign_canon::RepoPath;
use countersign_intent::{
    AgentId, EvidenceRef, IntentId, PathSet, Reach, Registry, WorkflowId,
    wire::{CommandEntry, Effect, IntentDocument, Phase, PlannedCommand},
};

use crate::{command_set::CommandSet, merge_order::commands_before, named::NamedPaths};

/// A phase of a selected workflow.
#[derive(Debug, Clone)]
pub(crate) struct PhaseSlot<'w> {
    pub(crate) workflow: &'w WorkflowId,
    /// The workflow's position in the intent.
    pub(crate) workflow_index: usize,
    pub(crate) phase: Phase,
    /// Its commands.
    pub(crate) commands: CommandSet,
}

/// A command, placed.
#[derive(Debug, Clone)]
pub(crate) struct Step<'w> {
    pub(crate) command: &'w PlannedCommand,
    /// The position of its phase.
    pub(crate) phase: usize,
    /// The position of the phase that the registry names, if it stands in a later one.
    pub(crate) moved_from: Option<usize>,
    /// The commands of other intents that must be done before it.
    after: CommandSet,
    /// The position of its lane.
    pub(crate) lane: usize,
    /// Its evidence, sorted, with the file that a piece of it names.
    pub(crate) evidence: Vec<(&'w EvidenceRef, Option<RepoPath>)>,
    /// The files its own evidence names, sorted.
    own_paths: Vec<RepoPath>,
    /// What else it touches.
    reach: Reach,
    /// All commands of its phase that must come before it.
    pub(crate) before: CommandSet,
    /// Those of them that are not before another one of them.
    pub(crate) directly_before: CommandSet,
}

impl Step<'_> {
    pub(crate) fn is_write_like(&self) -> bool {
        self.command.effects.iter().any(|effect| effect.is_write_like())
    }
}

/// The work of an intent.
#[derive(Debug)]
pub(crate) struct Work<'w> {
    pub(crate) document: &'w IntentDocument,
    pub(crate) registry: Option<&'w Registry>,
    pub(crate) named: NamedPaths,
    pub(crate) phases: Vec<PhaseSlot<'w>>,
    pub(crate) lanes: Vec<&'w AgentId>,
    pub(crate) steps: Vec<Step<'w>>,
    /// The files of the scope, sorted.
    targets: Vec<RepoPath>,
}

impl<'w> Work<'w> {
    pub(crate) fn of(document: &'w IntentDocument, registry: Option<&'w Registry>) -> Self {
        let mut phases = phases(document);
        let mut lanes: Vec<&AgentId> = Vec::new();
        for agent in document.selected_agents.iter() {
            if !lanes.contains(&&agent.agent_id) {
                lanes.push(&agent.agent_id);
            }
        }
        let mut steps: Vec<Step<'w>> = Vec::new();
        for ((index, command), after) in
            document.planned_commands.iter().enumerate().zip(commands_before(document))
        {
            let entry = registry.and_then(|registry| registry.command(&command.command_id));
            let own_phase = phase_of(entry, &phases);
            let latest = after.iter().filter_map(|earlier| steps.get(earlier)).map(|step| step.phase).max();
            let phase = latest.map_or(own_phase, |latest| latest.max(own_phase));
            if let Some(slot) = phases.get_mut(phase) {
                slot.commands.insert(index);
            }
            let references: BTreeSet<&EvidenceRef> = command.evidence_refs.iter().collect();
            let evidence: Vec<_> =
                references.into_iter().map(|reference| (reference, reference.file())).collect();
            let own_paths: BTreeSet<RepoPath> =
                evidence.iter().filter_map(|(_, file)| file.as_ref()).cloned().collect();
            steps.push(Step {
                command,
                phase,
                moved_from: (phase != own_phase).then_some(own_phase),
                after,
                lane: lane_of(entry, &lanes),
                evidence,
                own_paths: own_paths.into_iter().collect(),
                reach: document.reach(command),
                before: CommandSet::default(),
                directly_before: CommandSet::default(),
            });
        }
        let targets: BTreeSet<RepoPath> = document.scope.targets.files.iter().cloned().collect();
        let targets = targets.into_iter().collect();
        let mut work =
            Self { document, registry, named: NamedPaths::of(document), phases, lanes, steps, targets };
        work.put_in_order();
        work
    }

    pub(crate) const fn id(&self) -> &'w IntentId {
        &self.document.id
    }

    /// A place in the intent, as evidence.
    pub(crate) fn place(&self, place: &str) -> EvidenceRef {
        EvidenceRef::to_intent(self.id(), place)
    }

    pub(crate) fn step(&self, command: usize) -> Option<&Step<'w>> {
        self.steps.get(command)
    }

    fn entry(&self, command: usize) -> Option<&'w CommandEntry> {
        self.registry.and_then(|registry| registry.command(&self.steps.get(command)?.command.command_id))
    }

    /// Whether the graph has the first command before the second.
    pub(crate) fn is_before(&self, first: usize, second: usize) -> bool {
        match (self.step(first), self.step(second)) {
            (Some(a), Some(b)) => a.phase < b.phase || (a.phase == b.phase && b.before.contains(first)),
            (None, _) | (_, None) => false,
        }
    }

    /// Every pair that one shared thing or a merge orders: the first as the intent lists them.
    pub(crate) fn ordered_pairs(&self) -> Vec<CommandSet> {
        let mut shared: Vec<CommandSet> = self.steps.iter().map(|step| step.after).collect();
        for group in self.shared_things() {
            let changing: CommandSet = group
                .iter()
                .filter(|&index| self.steps.get(index).is_some_and(Step::is_write_like))
                .collect();
            for index in group.iter() {
                let others = if changing.contains(index) { group } else { changing };
                if let Some(slot) = shared.get_mut(index) {
                    *slot = slot.with(others.before(index));
                }
            }
        }
        let makers = self.makers();
        for (index, slot) in shared.iter_mut().enumerate() {
            let entry = self.entry(index);
            let consumed = entry.map(|entry| entry.consumes.as_slice()).unwrap_or_default();
            for artifact in consumed {
                *slot = slot.with(makers.get(artifact).copied().unwrap_or_default().before(index));
            }
            if entry.is_some_and(|entry| entry.exclusive) {
                *slot = slot.with(self.exclusive().before(index));
            }
        }
        shared
    }

    fn makers(&self) -> BTreeMap<&'w countersign_intent::ArtifactName, CommandSet> {
        let mut makers: BTreeMap<_, CommandSet> = BTreeMap::new();
        for index in 0..self.steps.len() {
            for artifact in self.entry(index).map(|entry| entry.produces.as_slice()).unwrap_or_default() {
                makers.entry(artifact).or_default().insert(index);
            }
        }
        makers
    }

    fn exclusive(&self) -> CommandSet {
        (0..self.steps.len())
            .filter(|&index| self.entry(index).is_some_and(|entry| entry.exclusive))
            .collect()
    }

    /// What these commands touch; a target may stand there more than once.
    pub(crate) fn paths_of<'s>(&'s self, steps: &'s [&Step<'w>]) -> impl Iterator<Item = &'s RepoPath> {
        let has_targets = steps.iter().any(|step| step.reach.has_target_files());
        let targets = if has_targets { self.targets.as_slice() } else { &[] };
        steps.iter().flat_map(|step| &step.own_paths).chain(targets)
    }

    /// For each path: all commands that touch it.
    pub(crate) fn touching(&self) -> BTreeMap<&RepoPath, CommandSet> {
        let broad = self.positions(|step| step.reach.has_target_files());
        let mut touching: BTreeMap<&RepoPath, CommandSet> = BTreeMap::new();
        if !broad.is_empty() {
            touching.extend(self.targets.iter().map(|path| (path, broad)));
        }
        for (index, step) in self.steps.iter().enumerate() {
            for path in &step.own_paths {
                touching.entry(path).or_default().insert(index);
            }
        }
        touching
    }

    /// For each path, module or service: all commands that touch it.
    fn shared_things(&self) -> Vec<CommandSet> {
        let touching = self.touching();
        let set = PathSet::of(touching.keys().copied());
        let by_position: Vec<CommandSet> = touching.values().copied().collect();
        let meeting = |path: &RepoPath| {
            let positions = set.meeting(path);
            positions
                .iter()
                .filter_map(|&at| by_position.get(at))
                .fold(CommandSet::default(), |all, one| all.with(*one))
        };
        // A folder meets its files, and these need not meet each other: each path is asked for its own company.
        let mut groups: Vec<CommandSet> = Vec::new();
        for (path, own) in &touching {
            if self.named.is_area(path) {
                let company = meeting(path);
                groups.extend(company.without(*own).iter().map(|other| {
                    let mut group = *own;
                    group.insert(other);
                    group
                }));
            }
            groups.push(*own);
        }
        let targets = &self.document.scope.targets;
        let broad = self.positions(|step| step.reach.has_target_names());
        if !targets.modules.is_empty() {
            groups.push(broad);
        }
        if targets.services.as_deref().is_some_and(|services| !services.is_empty()) {
            let acts = |effect: &Effect| matches!(effect, Effect::Deploy | Effect::Rollback);
            groups.push(broad.with(self.positions(|step| step.command.effects.iter().any(acts))));
        }
        groups
    }

    fn positions(&self, is_wanted: impl Fn(&Step<'w>) -> bool) -> CommandSet {
        self.steps.iter().enumerate().filter(|(_, step)| is_wanted(step)).map(|(index, _)| index).collect()
    }

    /// Says of each command which of its phase come before it: a pair stands in the intent's order, so there is no circle.
    fn put_in_order(&mut self) {
        let pairs = self.ordered_pairs();
        for (index, earlier) in pairs.into_iter().enumerate() {
            let Some(phase) = self.steps.get(index).map(|step| step.phase) else { continue };
            let Some(slot) = self.phases.get(phase) else { continue };
            let mut direct = earlier.both(slot.commands);
            let mut all = direct;
            for before in direct.iter() {
                let reached = self.steps.get(before).map(|step| step.before).unwrap_or_default();
                direct = direct.without(reached);
                all = all.with(reached);
            }
            if let Some(step) = self.steps.get_mut(index) {
                step.before = all;
                step.directly_before = direct;
            }
        }
    }
}

/// The phases, in the order of the workflows; a phase that a workflow names twice stands where it is named first.
fn phases(document: &IntentDocument) -> Vec<PhaseSlot<'_>> {
    let mut slots: Vec<PhaseSlot<'_>> = Vec::new();
    for (workflow_index, selected) in document.selected_workflows.iter().enumerate() {
        for &phase in selected.phases.iter() {
            let is_there =
                slots.iter().any(|slot| slot.workflow_index == workflow_index && slot.phase == phase);
            if !is_there {
                let workflow = &selected.workflow_id;
                slots.push(PhaseSlot { workflow, workflow_index, phase, commands: CommandSet::default() });
            }
        }
    }
    slots
}

/// The phase that the registry names, in the first workflow that has it; else the last phase.
fn phase_of(entry: Option<&CommandEntry>, phases: &[PhaseSlot<'_>]) -> usize {
    let named = entry.and_then(|entry| phases.iter().position(|slot| slot.phase == entry.phase));
    named.unwrap_or_else(|| phases.len().saturating_sub(1))
}

/// The first selected agent that the registry lists for the command; else the first agent.
fn lane_of(entry: Option<&CommandEntry>, lanes: &[&AgentId]) -> usize {
    entry.and_then(|entry| lanes.iter().position(|agent| entry.agents.contains(agent))).unwrap_or(0)
}
