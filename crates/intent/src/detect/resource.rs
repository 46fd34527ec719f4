//! Resource conflicts: one thing, two intents, and at least one of them changes it.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::RepoPath;

use crate::{
    EffectSet, EvidenceRef,
    detect::{Field, Finding, Group},
    path_index::PathIndex,
    pattern::PathPattern,
    touch::{Place, Touch},
    wire::{ConflictType, Effect, Severity},
};

/// How many of the things that two intents collide on a conflict names as evidence; its description counts all.
const NAMED_MAX: usize = 10;

/// Whether several commands may use a thing at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sharing {
    Shared,
    Exclusive,
}

/// One thing that two intents meet on.
#[derive(Debug)]
struct Meeting {
    resource: String,
    evidence: Vec<EvidenceRef>,
}

/// Meetings by pair and severity: a reviewer wants to know that two intents collide, and then on what.
type Meetings = BTreeMap<(usize, usize, Severity), Vec<Meeting>>;

/// Finds every resource conflict.
pub(crate) fn resources(field: &Field<'_>) -> Vec<Finding> {
    let mut meetings = Meetings::new();
    files(field, &mut meetings);
    names(field, &mut meetings);
    environments(field, &mut meetings);
    meetings.into_iter().map(|((a, b, severity), met)| finding(a, b, severity, met)).collect()
}

fn finding(a: usize, b: usize, severity: Severity, mut met: Vec<Meeting>) -> Finding {
    met.sort_by(|a, b| a.resource.cmp(&b.resource));
    let first = met.first().map(|meeting| meeting.resource.clone());
    let shown = first.clone().unwrap_or_default();
    let what = match severity {
        Severity::Low => "one reads what the other changes",
        Severity::Medium => "both change",
        Severity::High => "both change, and one of them for good,",
        Severity::Critical => "both put a version into service or take it out in",
    };
    let things: BTreeSet<&str> = met.iter().map(|meeting| meeting.resource.as_str()).collect();
    let description = match (severity, things.len()) {
        (Severity::Low, 1) => format!("{what}: `{shown}`"),
        (Severity::Low, count) => format!("{what}: {count} things, the first is `{shown}`"),
        (Severity::Medium | Severity::High | Severity::Critical, 1) => format!("{what} `{shown}`"),
        (Severity::Medium | Severity::High | Severity::Critical, count) => {
            format!("{what} {count} things, the first is `{shown}`")
        }
    };
    Finding {
        kind: ConflictType::Resource,
        severity,
        group: Group::Pair,
        intents: [a, b].into(),
        resource: first,
        description,
        evidence: met.into_iter().take(NAMED_MAX).flat_map(|meeting| meeting.evidence).collect(),
    }
}

/// The severity of two uses of one thing, if they get in each other's way.
fn severity(a: EffectSet, b: EffectSet, sharing: Sharing) -> Option<Severity> {
    let is_service_move = |set: EffectSet| set.contains(Effect::Deploy) || set.contains(Effect::Rollback);
    match (a.is_write_like(), b.is_write_like()) {
        (false, false) => None,
        (true, false) | (false, true) => Some(Severity::Low),
        (true, true) if sharing == Sharing::Exclusive && is_service_move(a) && is_service_move(b) => {
            Some(Severity::Critical)
        }
        (true, true) if a.is_exclusive() || b.is_exclusive() => Some(Severity::High),
        (true, true) => Some(Severity::Medium),
    }
}

fn evidence(field: &Field<'_>, sides: [(usize, &Touch, Option<Place>); 2]) -> Vec<EvidenceRef> {
    let of_side = |(index, touch, place): (usize, &Touch, Option<Place>)| {
        let effects = touch.gravest_command().map(|command| format!("planned_commands/{command}/effects"));
        let effects = effects.and_then(|place| field.reference(index, &place));
        let named = place.and_then(|place| Some(place.reference(field.intent(index)?)));
        [effects, named].into_iter().flatten()
    };
    sides.into_iter().flat_map(of_side).collect()
}

/// Files of different projects or repositories never meet.
fn world<'f>(field: &Field<'f>, index: usize) -> (&'f str, &'f str) {
    field.intent(index).map_or(("", ""), |intent| {
        let scope = &intent.document().scope;
        (scope.project_id.as_str(), scope.repo_root.as_str())
    })
}

/// One claim: which intent, and which of its files.
type Claim = (usize, usize);

fn files(field: &Field<'_>, meetings: &mut Meetings) {
    let mut indexes: BTreeMap<(&str, &str), PathIndex<Claim>> = BTreeMap::new();
    for (later, touches) in field.touches.iter().enumerate() {
        let index = indexes.entry(world(field, later)).or_insert_with(PathIndex::new);
        let patterns: Vec<PathPattern<'_>> =
            touches.files.iter().map(|(path, _)| PathPattern::of(path)).collect();
        for ((path, (touch, place)), pattern) in touches.files.iter().zip(&patterns) {
            for (earlier, slot) in index.meeting(pattern) {
                let other = field.touches.get(earlier).and_then(|touches| touches.files.get(slot));
                let Some((other_path, (other_touch, other_place))) = other else { continue };
                let Some(severity) = severity(other_touch.effects, touch.effects, Sharing::Shared) else {
                    continue;
                };
                // The longer path says more; of equally long ones the first in order, so that sides do not matter.
                let narrower = [path, other_path].into_iter().max_by(|a, b| {
                    let length = |path: &RepoPath| path.segments().count();
                    length(a).cmp(&length(b)).then_with(|| b.cmp(a))
                });
                let sides = [(earlier, other_touch, Some(*other_place)), (later, touch, Some(*place))];
                let met = meetings.entry((earlier, later, severity)).or_default();
                let evidence = if met.len() < NAMED_MAX { evidence(field, sides) } else { Vec::new() };
                met.push(Meeting {
                    resource: narrower.map_or_else(String::new, |path| format!("{path}")),
                    evidence,
                });
            }
        }
        for (slot, pattern) in patterns.iter().enumerate() {
            index.insert(pattern, (later, slot));
        }
    }
}

fn names(field: &Field<'_>, meetings: &mut Meetings) {
    let mut users = BTreeMap::new();
    for (index, touches) in field.touches.iter().enumerate() {
        let (project, _) = world(field, index);
        for (name, touch) in &touches.modules {
            users.entry((project, "module", name)).or_insert_with(Vec::new).push((index, touch));
        }
        for (name, touch) in &touches.services {
            users.entry((project, "service", name)).or_insert_with(Vec::new).push((index, touch));
        }
    }
    for ((_, sort, name), users) in &users {
        for (at, (a, (touch_a, place_a))) in users.iter().enumerate() {
            for (b, (touch_b, place_b)) in users.iter().skip(at.saturating_add(1)) {
                let Some(severity) = severity(touch_a.effects, touch_b.effects, Sharing::Shared) else {
                    continue;
                };
                let evidence =
                    evidence(field, [(*a, touch_a, Some(*place_a)), (*b, touch_b, Some(*place_b))]);
                let resource = format!("{sort}://{name}");
                meetings.entry((*a, *b, severity)).or_default().push(Meeting { resource, evidence });
            }
        }
    }
}

fn environments(field: &Field<'_>, meetings: &mut Meetings) {
    let mut users = BTreeMap::new();
    for (index, touches) in field.touches.iter().enumerate() {
        if let Some(touch) = &touches.exclusive {
            let key = (world(field, index).0, touches.environment);
            users.entry(key).or_insert_with(Vec::new).push((index, touch));
        }
    }
    for ((_, environment), users) in &users {
        for (at, (a, touch_a)) in users.iter().enumerate() {
            for (b, touch_b) in users.iter().skip(at.saturating_add(1)) {
                let Some(severity) = severity(touch_a.effects, touch_b.effects, Sharing::Exclusive) else {
                    continue;
                };
                let evidence = evidence(field, [(*a, touch_a, None), (*b, touch_b, None)]);
                let resource = super::effect::environment_ref(*environment);
                meetings.entry((*a, *b, severity)).or_default().push(Meeting { resource, evidence });
            }
        }
    }
}
