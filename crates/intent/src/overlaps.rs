//! Conflicts among thousands of open intents: by index, so that it grows with the conflicts and not with the pairs.

use alloc::{format, vec::Vec};

use countersign_canon::{Issue, NonEmpty};

use crate::{
    Intent, Registry,
    code::codes,
    detect::{Field, cycles, edges, effects, in_order, locks, resources, undeclared},
    wire::{Conflict, Environment},
};

/// Every resource, effect and order conflict and every broken lock among these intents.
///
/// What is about a set as a whole is left out: the total of budgets, and ways of asking that differ. Intents of
/// different projects or repositories never meet.
///
/// # Errors
///
/// Fails if a conflict does not fit its own form: what was found is never left out.
pub fn overlaps(
    intents: &[Intent],
    environment: Option<Environment>,
    registry: Option<&Registry>,
) -> Result<Vec<Conflict>, NonEmpty<Issue>> {
    let mut sorted: Vec<&Intent> = intents.iter().collect();
    sorted.sort_by(|a, b| a.id().cmp(b.id()));
    let field = Field::new(sorted, environment, registry);
    let edges = edges(&field);
    let circles = cycles(&field, &edges, edges.keys());
    let mut findings = resources(&field);
    findings.extend(effects(&field));
    findings.extend(undeclared(&field, &edges, &circles));
    findings.extend(circles.findings);
    findings.extend(locks(&field));
    let mut conflicts = Vec::new();
    let mut lost = Vec::new();
    for finding in in_order(findings) {
        match finding.to_wire(&field) {
            Some(conflict) => conflicts.push(conflict),
            None => lost.push(
                Issue::new(
                    codes::CONFLICT_TOO_LARGE,
                    format!(
                        "a {} between {} intents does not fit its own form",
                        finding.kind,
                        finding.intents.len()
                    ),
                )
                .with_expected("at most 100000 intents, and names of at most 4200 characters")
                .with_hint("look at fewer intents at once"),
            ),
        }
    }
    match NonEmpty::new(lost) {
        None => Ok(conflicts),
        Some(lost) => Err(lost),
    }
}
