//! Constraint conflicts: budgets that add up to too much, locks that are broken, modes that do not go together.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use crate::{
    EvidenceRef, Intent, Money,
    detect::{Field, Finding, Group, Limits, shown},
    path_index::PathIndex,
    pattern::PathPattern,
    wire::{ConflictType, InteractionMode, LockMode, Severity},
};

/// Finds budgets whose total is above a limit.
pub(crate) fn budgets(field: &Field<'_>, limits: Limits) -> Vec<Finding> {
    let cost = field
        .intents
        .iter()
        .map(|intent| intent.document().budgets.max_cost_usd)
        .fold(Money::default(), Money::plus);
    let tokens = field
        .intents
        .iter()
        .map(|intent| intent.document().budgets.max_tokens.get())
        .fold(0, i64::saturating_add);
    let spends_money: Vec<usize> =
        members(field, |intent| intent.document().budgets.max_cost_usd > Money::default());
    let spends_tokens: Vec<usize> = members(field, |intent| intent.document().budgets.max_tokens.get() > 0);
    let over_cost = (cost > limits.cost_usd).then(|| {
        let text = format!("together they may spend {cost} dollars; the limit is {}", limits.cost_usd);
        budget_finding(field, "max_cost_usd", spends_money, text)
    });
    let over_tokens = (tokens > limits.tokens).then(|| {
        let text = format!("together they may use {tokens} tokens; the limit is {}", limits.tokens);
        budget_finding(field, "max_tokens", spends_tokens, text)
    });
    // One intent alone over a limit is not a conflict between intents.
    over_cost.into_iter().chain(over_tokens).filter(|finding| finding.intents.len() >= 2).collect()
}

fn members(field: &Field<'_>, is_member: impl Fn(&Intent) -> bool) -> Vec<usize> {
    field.intents.iter().enumerate().filter(|(_, intent)| is_member(intent)).map(|(index, _)| index).collect()
}

fn budget_finding(field: &Field<'_>, key: &str, intents: Vec<usize>, description: String) -> Finding {
    let evidence =
        intents.iter().filter_map(|&index| field.reference(index, &format!("budgets/{key}"))).collect();
    Finding {
        kind: ConflictType::Constraint,
        severity: Severity::High,
        group: Group::Budget,
        intents,
        resource: Some(format!("/budgets/{key}")),
        description,
        evidence,
    }
}

/// A file that somebody writes although another locks it, and where one sees it.
type WrittenFile = (String, Vec<EvidenceRef>);

/// Finds files-locks that another intent writes into.
pub(crate) fn locks(field: &Field<'_>) -> Vec<Finding> {
    let locks = |intent: &&Intent| intent.document().constraints.lock_scope.mode == LockMode::Files;
    if !field.intents.iter().any(locks) {
        return Vec::new();
    }
    let mut writes: BTreeMap<(&str, &str), PathIndex<(usize, usize)>> = BTreeMap::new();
    for (index, touches) in field.touches.iter().enumerate() {
        let written = writes.entry(world(field, index)).or_insert_with(PathIndex::new);
        for (slot, (path, (touch, _))) in touches.files.iter().enumerate() {
            if touch.effects.is_write_like() {
                written.insert(&PathPattern::of(path), (index, slot));
            }
        }
    }
    let mut broken: BTreeMap<(usize, usize), Vec<WrittenFile>> = BTreeMap::new();
    for (holder, intent) in field.intents.iter().enumerate() {
        let lock = &intent.document().constraints.lock_scope;
        let Some(written) = writes.get(&world(field, holder)).filter(|_| lock.mode == LockMode::Files) else {
            continue;
        };
        for (at, path) in lock.paths.iter().enumerate() {
            for (writer, slot) in written.meeting(&PathPattern::of(path)) {
                let Some((file, (touch, place))) =
                    field.touches.get(writer).and_then(|touches| touches.files.get(slot))
                else {
                    continue;
                };
                if writer == holder {
                    continue;
                }
                let command =
                    touch.gravest_command().map(|command| format!("planned_commands/{command}/effects"));
                let evidence = [
                    field.reference(holder, &format!("constraints/lock_scope/paths/{at}")),
                    field.intent(writer).map(|intent| place.reference(intent)),
                    command.and_then(|place| field.reference(writer, &place)),
                ];
                let evidence = evidence.into_iter().flatten().collect();
                broken.entry((holder, writer)).or_default().push((format!("{file}"), evidence));
            }
        }
    }
    broken
        .into_iter()
        .filter_map(|((holder, writer), files)| broken_lock(field, holder, writer, files))
        .collect()
}

fn broken_lock(
    field: &Field<'_>,
    holder: usize,
    writer: usize,
    mut files: Vec<WrittenFile>,
) -> Option<Finding> {
    files.sort();
    files.dedup_by(|a, b| a.0 == b.0);
    let (first, _) = files.first()?.clone();
    let more = match files.len() {
        1 => String::new(),
        count => format!(" and {} more", count.saturating_sub(1)),
    };
    let mut intents: Vec<usize> = [holder, writer].into();
    intents.sort_unstable();
    Some(Finding {
        kind: ConflictType::Constraint,
        severity: Severity::High,
        group: Group::Pair,
        intents,
        description: format!(
            "`{}` writes `{}`{more}, which `{}` locks",
            field.intent(writer)?.id(),
            shown(&first),
            field.intent(holder)?.id()
        ),
        resource: Some(first),
        evidence: files.into_iter().take(10).flat_map(|(_, evidence)| evidence).collect(),
    })
}

/// Finds files-locks beside an intent that writes and locks nothing, where the lock is not actually broken.
pub(crate) fn open_locks(field: &Field<'_>, broken: &[Finding]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (holder, intent) in field.intents.iter().enumerate() {
        if intent.document().constraints.lock_scope.mode != LockMode::Files {
            continue;
        }
        for (writer, other) in field.intents.iter().enumerate() {
            let writes = other.document().planned_commands.iter().enumerate();
            let first_write = writes
                .filter(|(_, command)| command.effects.iter().any(|effect| effect.is_write_like()))
                .map(|(index, _)| index)
                .next();
            let is_open = other.document().constraints.lock_scope.mode == LockMode::None && writer != holder;
            let (true, Some(command)) = (is_open, first_write) else { continue };
            if broken.iter().any(|finding| finding.is_between(holder, writer)) {
                continue;
            }
            let mut intents: Vec<usize> = [holder, writer].into();
            intents.sort_unstable();
            let evidence = [
                field.reference(holder, "constraints/lock_scope"),
                field.reference(writer, "constraints/lock_scope/mode"),
                field.reference(writer, &format!("planned_commands/{command}/effects")),
            ];
            findings.push(Finding {
                kind: ConflictType::Constraint,
                severity: Severity::Low,
                group: Group::Pair,
                intents,
                resource: Some("/constraints/lock_scope".into()),
                description: format!("`{}` locks files; `{}` writes and locks none", intent.id(), other.id()),
                evidence: evidence.into_iter().flatten().collect(),
            });
        }
    }
    findings
}

/// Finds intents that run by themselves beside such as ask at every step.
pub(crate) fn modes(field: &Field<'_>) -> Option<Finding> {
    let of = |mode: InteractionMode| members(field, move |intent| intent.document().interaction.mode == mode);
    let (automatic, interactive) = (of(InteractionMode::FullAuto), of(InteractionMode::Interactive));
    if automatic.is_empty() || interactive.is_empty() {
        return None;
    }
    let mut intents: Vec<usize> = automatic.iter().chain(&interactive).copied().collect();
    intents.sort_unstable();
    let evidence = intents.iter().filter_map(|&index| field.reference(index, "interaction/mode")).collect();
    Some(Finding {
        kind: ConflictType::Constraint,
        severity: Severity::Low,
        group: Group::Modes,
        intents,
        resource: Some("/interaction/mode".into()),
        description: format!(
            "{} run by themselves beside {} that ask at every step; together they ask",
            automatic.len(),
            interactive.len()
        ),
        evidence,
    })
}

fn world<'f>(field: &Field<'f>, index: usize) -> (&'f str, &'f str) {
    field.intent(index).map_or(("", ""), |intent| {
        let scope = &intent.document().scope;
        (scope.project_id.as_str(), scope.repo_root.as_str())
    })
}
