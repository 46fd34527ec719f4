//! Order conflicts: one intent needs another first, and nobody says so.

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    format,
    string::String,
    vec::Vec,
};

use crate::{
    ArtifactName, EvidenceRef, Intent,
    detect::{Field, Finding, Group},
    wire::{CommandEntry, ConflictType, Severity},
};

/// LIMIT: a description has room for the names of a whole set; a longer circle is counted, and listed in full beside it.
const NAMED_MAX: usize = 20;

/// Why one intent comes before another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EdgeReason {
    /// The later one says so.
    Declared,
    /// The later one's evidence names the earlier one.
    Evidence(EvidenceRef),
    /// The later one consumes what the earlier one produces.
    Artifact(ArtifactName),
}

impl EdgeReason {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Declared => "metadata.depends_on says so".into(),
            Self::Evidence(reference) => format!("its evidence names `{reference}`"),
            Self::Artifact(artifact) => format!("it consumes `{artifact}`"),
        }
    }
}

/// That one intent comes before another, why, and where one sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) reason: EdgeReason,
    pub(crate) evidence: Vec<EvidenceRef>,
}

/// Every "before" in the field: from the earlier to the later one, with all reasons, the declared one first.
pub(crate) type Edges = BTreeMap<(usize, usize), Vec<Edge>>;

/// Finds every "before".
pub(crate) fn edges(field: &Field<'_>) -> Edges {
    let ids: BTreeMap<&str, usize> =
        field.intents.iter().enumerate().map(|(index, intent)| (intent.id().as_str(), index)).collect();
    let producers = producers(field);
    let mut edges = Edges::new();
    for (later, intent) in field.intents.iter().enumerate() {
        let mut add = |earlier: usize, reason: EdgeReason, evidence: Vec<EvidenceRef>| {
            let known: &mut Vec<Edge> =
                if earlier == later { return } else { edges.entry((earlier, later)).or_default() };
            if !known.iter().any(|edge| edge.reason == reason) {
                known.push(Edge { reason, evidence });
            }
        };
        let declared = intent.document().metadata.iter().flat_map(|metadata| &metadata.depends_on);
        for id in declared {
            if let Some(&earlier) = ids.get(id.as_str()) {
                let place = field.reference(later, "metadata/depends_on");
                add(earlier, EdgeReason::Declared, place.into_iter().collect());
            }
        }
        for (place, reference) in references(intent) {
            if let Some(&earlier) = reference.intent().and_then(|id| ids.get(id)) {
                let place = field.reference(later, &place);
                add(earlier, EdgeReason::Evidence(reference.clone()), place.into_iter().collect());
            }
        }
        for (artifact, command) in wanted(field, intent) {
            for (earlier, at) in producers.get(artifact).into_iter().flatten() {
                let places = [
                    field.reference(later, &format!("planned_commands/{command}/command_id")),
                    field.reference(*earlier, &format!("planned_commands/{at}/command_id")),
                ];
                add(*earlier, EdgeReason::Artifact(artifact.clone()), places.into_iter().flatten().collect());
            }
        }
    }
    for reasons in edges.values_mut() {
        reasons.sort_by(|a, b| a.reason.cmp(&b.reason));
    }
    edges
}

/// Order conflicts of pairs: a "before" that nobody declares and that is in no circle.
pub(crate) fn undeclared(field: &Field<'_>, edges: &Edges, circles: &Circles) -> Vec<Finding> {
    let is_declared = |reasons: &[Edge]| reasons.iter().any(|edge| edge.reason == EdgeReason::Declared);
    let open = edges
        .iter()
        .filter(|((earlier, later), reasons)| !is_declared(reasons) && !circles.has_both(*earlier, *later));
    open.filter_map(|((earlier, later), reasons)| {
        let (before, after) = (field.intent(*earlier)?.id(), field.intent(*later)?.id());
        let why: Vec<String> = reasons.iter().take(3).map(|edge| edge.reason.text()).collect();
        let mut intents: Vec<usize> = [*earlier, *later].into();
        intents.sort_unstable();
        Some(Finding {
            kind: ConflictType::Order,
            severity: Severity::Medium,
            group: Group::Pair,
            intents,
            resource: None,
            description: format!(
                "`{after}` must come after `{before}` and does not say so: {}",
                why.join(", ")
            ),
            evidence: reasons.iter().flat_map(|edge| edge.evidence.iter().cloned()).collect(),
        })
    })
    .collect()
}

/// Circles, and who is in one with whom.
#[derive(Debug)]
pub(crate) struct Circles {
    pub(crate) findings: Vec<Finding>,
    /// For each intent a number that it shares with those that it is in circles with, and with nobody else.
    components: BTreeMap<usize, usize>,
}

impl Circles {
    /// Whether a "before" from one to the other would be part of a circle.
    fn has_both(&self, a: usize, b: usize) -> bool {
        self.components.get(&a).is_some_and(|component| self.components.get(&b) == Some(component))
    }
}

/// Circles: every "before" that is part of one is part of one that is named here, the shortest there is.
pub(crate) fn cycles<'e>(
    field: &Field<'_>,
    edges: &Edges,
    among: impl Iterator<Item = &'e (usize, usize)>,
) -> Circles {
    let mut followers: Followers = BTreeMap::new();
    for (earlier, later) in among {
        followers.entry(*earlier).or_default().push(*later);
    }
    let components = components(&followers);
    // Only what stays inside a component can be part of a circle.
    for (from, to) in &mut followers {
        to.retain(|to| components.get(to) == components.get(from));
    }
    let mut covered: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut findings = Vec::new();
    for (&earlier, all) in &followers {
        for &later in all {
            if covered.contains(&(earlier, later)) {
                continue;
            }
            let Some(circle) = shortest_circle(earlier, later, &followers) else { continue };
            covered.extend(circle.iter().copied().zip(circle.iter().copied().cycle().skip(1)));
            findings.extend(circle_finding(field, edges, &circle));
        }
    }
    Circles { findings, components }
}

/// For each intent those that come after it.
type Followers = BTreeMap<usize, Vec<usize>>;

/// Which intents can be reached from each other: to each the same number. Found by walking twice, once in each direction
/// (Kosaraju), without recursion, because a chain may be as long as there are intents.
fn components(followers: &Followers) -> BTreeMap<usize, usize> {
    let mut leaders: Followers = BTreeMap::new();
    for (&from, all) in followers {
        for &to in all {
            leaders.entry(to).or_default().push(from);
        }
    }
    let nodes: BTreeSet<usize> = followers.keys().chain(leaders.keys()).copied().collect();
    let mut seen = BTreeSet::new();
    let mut left_last = Vec::new();
    for &start in &nodes {
        walk(start, followers, &mut seen, &mut left_last);
    }
    let mut components = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for &start in left_last.iter().rev() {
        let mut reached = Vec::new();
        walk(start, &leaders, &mut seen, &mut reached);
        components.extend(reached.into_iter().map(|node| (node, start)));
    }
    components
}

/// Walks everything that is not seen yet, from `start` on; each is left after all that it leads to.
fn walk(start: usize, next: &Followers, seen: &mut BTreeSet<usize>, left: &mut Vec<usize>) {
    let onward = |at: usize| next.get(&at).map(Vec::as_slice).unwrap_or_default().iter();
    if !seen.insert(start) {
        return;
    }
    let mut open = alloc::vec![(start, onward(start))];
    while let Some((at, rest)) = open.last_mut() {
        match rest.next() {
            Some(&to) if seen.insert(to) => open.push((to, onward(to))),
            Some(_) => (),
            None => {
                left.push(*at);
                open.pop();
            }
        }
    }
}

/// The shortest circle through one "before", from its first intent in order; of equally short ones the first in order.
fn shortest_circle(earlier: usize, later: usize, followers: &Followers) -> Option<Vec<usize>> {
    let mut came_from: BTreeMap<usize, usize> = BTreeMap::from([(later, earlier)]);
    let mut pending = VecDeque::from([later]);
    while let Some(at) = pending.pop_front() {
        for &next in followers.get(&at).into_iter().flatten() {
            if next == earlier {
                let mut circle = alloc::vec![at];
                while let Some(&before) =
                    circle.last().filter(|at| **at != earlier).and_then(|at| came_from.get(at))
                {
                    circle.push(before);
                }
                circle.reverse();
                let least = circle.iter().enumerate().min_by_key(|(_, node)| **node).map_or(0, |(at, _)| at);
                circle.rotate_left(least);
                return Some(circle);
            }
            if let alloc::collections::btree_map::Entry::Vacant(entry) = came_from.entry(next) {
                entry.insert(at);
                pending.push_back(next);
            }
        }
    }
    None
}

fn circle_finding(field: &Field<'_>, edges: &Edges, circle: &[usize]) -> Option<Finding> {
    let names = circle.iter().filter_map(|&index| Some(field.intent(index)?.id().as_str()));
    let names: Vec<&str> = names.take(NAMED_MAX).collect();
    let more = match circle.len().saturating_sub(names.len()) {
        0 => String::new(),
        count => format!(" → {count} more"),
    };
    let steps = circle.iter().zip(circle.iter().cycle().skip(1));
    let evidence = steps
        .filter_map(|(earlier, later)| edges.get(&(*earlier, *later)))
        .flat_map(|reasons| reasons.iter().flat_map(|edge| edge.evidence.iter().cloned()))
        .collect();
    let mut intents = circle.to_vec();
    intents.sort_unstable();
    Some(Finding {
        kind: ConflictType::Order,
        severity: Severity::Critical,
        group: Group::Cycle,
        intents,
        resource: None,
        description: format!(
            "each must come after the one before it, in a circle: {}{more} → {}",
            names.join(" → "),
            names.first()?
        ),
        evidence,
    })
}

/// All references of an intent, with their places.
fn references(intent: &Intent) -> impl Iterator<Item = (String, &EvidenceRef)> {
    let document = intent.document();
    let own = document.evidence_refs.iter().enumerate();
    let own = own.map(|(index, reference)| (format!("evidence_refs/{index}"), reference));
    let commands = document.planned_commands.iter().enumerate().flat_map(|(command, planned)| {
        let refs = planned.evidence_refs.iter().enumerate();
        refs.map(move |(index, reference)| {
            (format!("planned_commands/{command}/evidence_refs/{index}"), reference)
        })
    });
    own.chain(commands)
}

/// Who produces what, and with which command.
fn producers<'f>(field: &Field<'f>) -> BTreeMap<&'f ArtifactName, Vec<(usize, usize)>> {
    let mut producers: BTreeMap<&ArtifactName, Vec<(usize, usize)>> = BTreeMap::new();
    for (index, intent) in field.intents.iter().enumerate() {
        for (command, entry) in entries(field, intent) {
            for artifact in &entry.produces {
                producers.entry(artifact).or_default().push((index, command));
            }
        }
    }
    producers
}

/// What an intent consumes without having produced it before, and the first command that does.
fn wanted<'f>(field: &Field<'f>, intent: &'f Intent) -> BTreeMap<&'f ArtifactName, usize> {
    let mut own = BTreeSet::new();
    let mut wanted = BTreeMap::new();
    for (command, entry) in entries(field, intent) {
        for artifact in entry.consumes.iter().filter(|artifact| !own.contains(artifact)) {
            wanted.entry(artifact).or_insert(command);
        }
        own.extend(&entry.produces);
    }
    wanted
}

fn entries<'f>(field: &Field<'f>, intent: &'f Intent) -> impl Iterator<Item = (usize, &'f CommandEntry)> {
    let registry = field.registry;
    let commands = intent.document().planned_commands.iter().enumerate();
    commands.filter_map(move |(index, command)| Some((index, registry?.command(&command.command_id)?)))
}
