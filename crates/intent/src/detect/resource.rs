//! Resource conflicts: one thing, two intents, and at least one of them changes it.

use alloc::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    format,
    string::ToString as _,
    vec::Vec,
};

use countersign_canon::RepoPath;

use crate::{
    EffectSet, EvidenceRef,
    detect::{Field, Finding, Group, shown},
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

/// One thing that two intents meet on, and how each of the two uses it.
#[derive(Debug)]
struct Meeting<'f> {
    resource: Cow<'f, str>,
    uses: [(&'f Touch, Option<Place>); 2],
}

/// Meetings by pair and severity: a reviewer wants to know that two intents collide, and then on what.
type Meetings<'f> = BTreeMap<(usize, usize, Severity), Vec<Meeting<'f>>>;

/// Finds every resource conflict.
pub(crate) fn resources(field: &Field<'_>) -> Vec<Finding> {
    let mut meetings = Meetings::new();
    files(field, &mut meetings);
    names(field, &mut meetings);
    environments(field, &mut meetings);
    meetings.into_iter().map(|((a, b, severity), met)| finding(field, [a, b], severity, met)).collect()
}

fn finding(field: &Field<'_>, between: [usize; 2], severity: Severity, mut met: Vec<Meeting<'_>>) -> Finding {
    met.sort_by(|a, b| a.resource.cmp(&b.resource));
    let first = met.first().map(|meeting| meeting.resource.clone().into_owned());
    let shown = shown(first.as_deref().unwrap_or_default());
    let what = match severity {
        Severity::Low => "one reads what the other changes",
        Severity::Medium => "both change",
        Severity::High => "both change, and one of them for good,",
        Severity::Critical => "both put a version into service or take it out in",
    };
    let things = met.chunk_by(|a, b| a.resource == b.resource).count();
    let description = match (severity, things) {
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
        intents: between.into(),
        resource: first,
        description,
        evidence: evidence(field, between, &met),
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

/// Where one sees the first few meetings: the gravest command of each side, and where each names the thing.
fn evidence(field: &Field<'_>, between: [usize; 2], met: &[Meeting<'_>]) -> Vec<EvidenceRef> {
    let (mut commands, mut places) = (BTreeSet::new(), BTreeSet::new());
    for meeting in met.iter().take(NAMED_MAX) {
        for (index, (touch, place)) in between.into_iter().zip(meeting.uses) {
            commands.extend(touch.gravest_command().map(|command| (index, command)));
            places.extend(place.map(|place| (index, place)));
        }
    }
    let commands = commands.into_iter().filter_map(|(index, command)| {
        field.reference(index, &format!("planned_commands/{command}/effects"))
    });
    let places = places.into_iter().filter_map(|(index, place)| Some(place.reference(field.intent(index)?)));
    commands.chain(places).collect()
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

fn files<'f>(field: &'f Field<'_>, meetings: &mut Meetings<'f>) {
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
                meetings.entry((earlier, later, severity)).or_default().push(Meeting {
                    resource: spelled(narrower(path, other_path)),
                    uses: [(other_touch, Some(*other_place)), (touch, Some(*place))],
                });
            }
        }
        for (slot, pattern) in patterns.iter().enumerate() {
            index.insert(pattern, (later, slot));
        }
    }
}

/// The longer path says more; of equally long ones the first in order, so that sides do not matter.
fn narrower<'p>(a: &'p RepoPath, b: &'p RepoPath) -> &'p RepoPath {
    let length = |path: &RepoPath| path.segments().count();
    if a == b {
        return a;
    }
    match length(a).cmp(&length(b)).then_with(|| b.cmp(a)) {
        core::cmp::Ordering::Greater => a,
        core::cmp::Ordering::Less | core::cmp::Ordering::Equal => b,
    }
}

/// The path as people write it; most are spelled that way already.
fn spelled(path: &RepoPath) -> Cow<'_, str> {
    match (path.as_str(), path.is_directory()) {
        ("", _) | (_, true) => Cow::Owned(path.to_string()),
        (text, false) => Cow::Borrowed(text),
    }
}

fn names<'f>(field: &'f Field<'_>, meetings: &mut Meetings<'f>) {
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
                meetings.entry((*a, *b, severity)).or_default().push(Meeting {
                    resource: Cow::Owned(format!("{sort}://{name}")),
                    uses: [(touch_a, Some(*place_a)), (touch_b, Some(*place_b))],
                });
            }
        }
    }
}

fn environments<'f>(field: &'f Field<'_>, meetings: &mut Meetings<'f>) {
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
                meetings.entry((*a, *b, severity)).or_default().push(Meeting {
                    resource: Cow::Owned(super::effect::environment_ref(*environment)),
                    uses: [(touch_a, None), (touch_b, None)],
                });
            }
        }
    }
}
