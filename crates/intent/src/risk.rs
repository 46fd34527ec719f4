//! Risk in four dimensions, from 0 to 100 each; whole numbers throughout.

use alloc::{collections::BTreeSet, vec::Vec};

use countersign_canon::{RepoPath, Within};

use crate::{
    Intent,
    wire::{
        Area, Dimensions, Dominance, Effect, Environment, Relationship, RiskComparison, RiskEntry, RiskLevel,
    },
};

/// The risks of these intents, and how each pair compares; intents sorted by id. `environment` is that of the set.
#[must_use]
pub fn compare_risks(intents: &[Intent], environment: Environment) -> RiskComparison {
    let matrix: Vec<RiskEntry> = intents.iter().map(|intent| risk_entry(intent, environment)).collect();
    let pairs = matrix.iter().enumerate().flat_map(|(at, a)| {
        matrix.iter().skip(at.saturating_add(1)).map(move |b| Dominance {
            intent_a: a.intent_id.clone(),
            intent_b: b.intent_id.clone(),
            relationship: relationship(&a.dimensions, &b.dimensions),
        })
    });
    let dominance = pairs.collect();
    RiskComparison { matrix, dominance }
}

/// The risk of one intent.
#[must_use]
pub fn risk_entry(intent: &Intent, environment: Environment) -> RiskEntry {
    let dimensions =
        [effects_risk(intent), scope_risk(intent, environment), blast_radius(intent), unknowns(intent)];
    let highest = dimensions.iter().copied().max().unwrap_or(100);
    let computed = match highest {
        ..25 => RiskLevel::Low,
        25..50 => RiskLevel::Medium,
        50..80 => RiskLevel::High,
        80.. => RiskLevel::Critical,
    };
    let [effects_risk, scope_risk, blast_radius, unknowns] = dimensions.map(Within::clamped);
    RiskEntry {
        intent_id: intent.id().clone(),
        overall_risk: computed.max(intent.document().risk.overall),
        dimensions: Dimensions { effects_risk, scope_risk, blast_radius, unknowns },
    }
}

fn effects_risk(intent: &Intent) -> i64 {
    let effects = intent.document().planned_commands.iter().flat_map(|command| command.effects.iter());
    let of = |effect: &Effect| match effect {
        Effect::Read => 0,
        Effect::Write | Effect::Create => 30,
        Effect::Network => 40,
        Effect::Deploy | Effect::Rollback => 70,
        Effect::Data => 80,
        Effect::Delete => 85,
        Effect::Security => 90,
    };
    effects.map(of).max().unwrap_or(0)
}

fn scope_risk(intent: &Intent, environment: Environment) -> i64 {
    let scope = &intent.document().scope;
    let services = scope.targets.services.as_deref().map_or(0, <[_]>::len);
    let breadth =
        scope.targets.files.len().saturating_add(scope.targets.modules.len()).saturating_add(services);
    scope_score(scope.env.unwrap_or(environment), breadth)
}

fn scope_score(environment: Environment, breadth: usize) -> i64 {
    let base: i64 = match environment {
        Environment::Local => 10,
        Environment::Dev => 20,
        Environment::Staging => 50,
        Environment::Prod => 100,
    };
    // In halves, so that it stays whole: every base is even.
    let halves = match breadth {
        ..=5 => 1,
        6..=20 => 2,
        21..=50 => 3,
        51.. => 4,
    };
    base.saturating_mul(halves).div_euclid(2).min(100)
}

fn blast_radius(intent: &Intent) -> i64 {
    let document = intent.document();
    let named =
        document.planned_commands.iter().filter(|command| command.effects.iter().any(|e| e.is_write_like()));
    let named = named.flat_map(|command| command.evidence_refs.iter().filter_map(crate::EvidenceRef::file));
    let files: BTreeSet<RepoPath> = document.scope.targets.files.iter().cloned().chain(named).collect();
    blast_score(files.len(), &document.scope.targets.areas)
}

fn blast_score(files: usize, areas: &[Area]) -> i64 {
    let base: i64 = match files {
        ..=5 => 10,
        6..=20 => 30,
        21..=50 => 60,
        51.. => 90,
    };
    let critical = [Area::Security, Area::Data, Area::Infra, Area::Ops];
    // In tenths: 1.0 or 1.2; every base is a multiple of ten.
    let tenths = if areas.iter().any(|area| critical.contains(area)) { 12 } else { 10 };
    base.saturating_mul(tenths).div_euclid(10).min(100)
}

fn unknowns(intent: &Intent) -> i64 {
    let document = intent.document();
    let of_commands = document.planned_commands.iter().flat_map(|command| command.evidence_refs.iter());
    let distinct: BTreeSet<&str> =
        document.evidence_refs.iter().chain(of_commands).map(crate::EvidenceRef::as_str).collect();
    unknowns_score(distinct.len())
}

const fn unknowns_score(references: usize) -> i64 {
    match references {
        ..=5 => 90,
        6..=10 => 60,
        11..=20 => 30,
        21.. => 10,
    }
}

fn relationship(a: &Dimensions, b: &Dimensions) -> Relationship {
    let of = |d: &Dimensions| [d.effects_risk, d.scope_risk, d.blast_radius, d.unknowns];
    let pairs = || of(a).into_iter().zip(of(b));
    match (pairs().all(|(a, b)| a >= b), pairs().all(|(a, b)| a <= b)) {
        (true, false) => Relationship::ADominatesB,
        (false, true) => Relationship::BDominatesA,
        (true, true) | (false, false) => Relationship::Incomparable,
    }
}

#[cfg(test)]
mod tests;
