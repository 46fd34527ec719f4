//! Effect conflicts: what one intent does, the other undoes, or both need an environment to themselves.

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use crate::{
    EvidenceRef,
    detect::{Field, Finding, Group},
    touch::{Deed, Touches},
    wire::{ConflictType, Environment, Severity},
};

/// Finds every effect conflict.
pub(crate) fn effects(field: &Field<'_>) -> Vec<Finding> {
    let mut pairs: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for ((_, resource), users) in users(field) {
        for (at, a) in users.iter().enumerate() {
            for b in users.iter().skip(at.saturating_add(1)).filter(|b| **b != *a) {
                pairs.entry((*a, *b)).or_default().push(resource.clone());
            }
        }
    }
    let mut findings: Vec<Finding> = Vec::new();
    for ((a, b), resources) in &pairs {
        findings.extend(opposed(field, *a, *b, resources));
    }
    findings.extend(exclusive(field));
    findings
}

/// How an environment is named in a conflict.
pub(super) fn environment_ref(environment: Option<Environment>) -> String {
    environment.map_or_else(|| "env://unspecified".into(), |environment| format!("env://{environment}"))
}

/// Who names which module or service; only those whose commands do something that can be undone.
fn users<'f>(field: &Field<'f>) -> BTreeMap<(&'f str, String), Vec<usize>> {
    let mut users: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    for (index, (intent, touches)) in field.intents.iter().zip(&field.touches).enumerate() {
        if touches.deeds.is_empty() {
            continue;
        }
        let scope = &intent.document().scope;
        let services = scope.targets.services.as_deref().unwrap_or_default();
        let modules = scope.targets.modules.iter().map(|name| format!("module://{}", name.as_str()));
        for resource in modules.chain(services.iter().map(|name| format!("service://{}", name.as_str()))) {
            users.entry((scope.project_id.as_str(), resource)).or_default().push(index);
        }
    }
    users
}

fn opposed(field: &Field<'_>, a: usize, b: usize, resources: &[String]) -> Option<Finding> {
    let (deeds_a, deeds_b) = (&field.touches.get(a)?.deeds, &field.touches.get(b)?.deeds);
    let opposed: Vec<(Deed, usize, Deed, usize)> = deeds_a
        .iter()
        .flat_map(|(deed_a, at_a)| deeds_b.iter().map(move |(deed_b, at_b)| (*deed_a, *at_a, *deed_b, *at_b)))
        .filter(|(deed_a, _, deed_b, _)| deed_a.opposes(*deed_b))
        .collect();
    let (deed_a, _, deed_b, _) = *opposed.first()?;
    let mut resources = resources.to_vec();
    resources.sort();
    let first = resources.first()?.clone();
    let effects = opposed.iter().flat_map(|(_, at_a, _, at_b)| [(a, *at_a), (b, *at_b)]);
    let effects: Vec<EvidenceRef> = effects
        .filter_map(|(index, command)| field.reference(index, &format!("planned_commands/{command}/effects")))
        .collect();
    let more = match resources.len() {
        1 => String::new(),
        count => format!(" and {} more", count.saturating_sub(1)),
    };
    Some(Finding {
        kind: ConflictType::Effect,
        severity: Severity::High,
        group: Group::Pair,
        intents: [a, b].into(),
        resource: Some(first.clone()),
        description: format!(
            "{} and {} undo each other on `{first}`{more}",
            deed_a.min(deed_b).word(),
            deed_a.max(deed_b).word()
        ),
        evidence: effects,
    })
}

/// Two commands that each need an environment to themselves.
fn exclusive(field: &Field<'_>) -> Vec<Finding> {
    let mut users = BTreeMap::new();
    for (index, (intent, touches)) in field.intents.iter().zip(&field.touches).enumerate() {
        if let Some(command) = first_exclusive(touches) {
            let key = (intent.document().scope.project_id.as_str(), touches.environment);
            users.entry(key).or_insert_with(Vec::new).push((index, command));
        }
    }
    let mut findings = Vec::new();
    for ((_, environment), users) in &users {
        for (at, (a, command_a)) in users.iter().enumerate() {
            for (b, command_b) in users.iter().skip(at.saturating_add(1)) {
                let evidence =
                    [(*a, *command_a), (*b, *command_b)].into_iter().filter_map(|(index, command)| {
                        field.reference(index, &format!("planned_commands/{command}/command_id"))
                    });
                let resource = environment_ref(*environment);
                findings.push(Finding {
                    kind: ConflictType::Effect,
                    severity: Severity::High,
                    group: Group::Pair,
                    intents: [*a, *b].into(),
                    description: format!("both need `{resource}` to themselves"),
                    resource: Some(resource),
                    evidence: evidence.collect(),
                });
            }
        }
    }
    findings
}

fn first_exclusive(touches: &Touches) -> Option<usize> {
    touches.exclusive.as_ref().and_then(crate::touch::Touch::gravest_command)
}
