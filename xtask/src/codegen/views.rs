//! The views of the shipped policy, as `countersign policy render` writes them.

use countersign_policy::{Policy, agents_view, shipped::STANDARD, skills_view};

/// Where the shipped policy stands.
const SOURCE: &str = "policy/odeu.instructions.v1.json";

/// Every view: path from the root, contents. A policy that does not load has none, and its tests say why.
pub(super) fn all() -> Vec<(String, String)> {
    let Ok(policy) = Policy::load(STANDARD.policy) else { return Vec::new() };
    vec![
        ("docs/generated/AGENTS_POLICY_VIEW.md".to_owned(), agents_view(&policy, SOURCE)),
        ("docs/generated/SKILLS_POLICY_VIEW.md".to_owned(), skills_view(&policy, SOURCE)),
    ]
}
