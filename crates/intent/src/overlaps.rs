//! Conflicts among thousands of open intents: by index, so that it grows with the conflicts and not with the pairs.

use alloc::vec::Vec;

use crate::{
    Intent, Registry,
    detect::{Field, cycles, edges, effects, in_order, locks, resources, undeclared},
    wire::{Conflict, Environment},
};

/// Every resource, effect and order conflict and every broken lock among these intents.
///
/// What is about a set as a whole is left out: the total of budgets, and ways of asking that differ. Intents of
/// different projects or repositories never meet.
#[must_use]
pub fn overlaps(
    intents: &[Intent],
    environment: Option<Environment>,
    registry: Option<&Registry>,
) -> Vec<Conflict> {
    let mut sorted: Vec<&Intent> = intents.iter().collect();
    sorted.sort_by(|a, b| a.id().cmp(b.id()));
    let field = Field::new(sorted, environment, registry);
    let edges = edges(&field);
    let circles = cycles(&field, &edges);
    let mut findings = resources(&field);
    findings.extend(effects(&field));
    findings.extend(undeclared(&field, &edges, &circles));
    findings.extend(circles);
    findings.extend(locks(&field));
    in_order(findings).iter().filter_map(|finding| finding.to_wire(&field)).collect()
}
