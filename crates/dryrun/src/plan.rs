//! Plans an intent: an intent in, everything it would do out, and nothing done.

use alloc::{format, string::String};

use countersign_canon::{Checksum, Issue, Json, NonEmpty, Sha256, Timestamp, Value};
use countersign_intent::Registry;

use crate::{
    ResultId, Source, code::codes, commit::Cut, graph::check_graph, outcome::Planned, patch::Changes,
    review::Reviews, wire::DryExecutionResult, work::Work,
};

/// What happens when a budget of the intent does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverBudget {
    /// The run is refused.
    Refused,
    /// The plan is made all the same, and says so.
    Allowed,
}

/// How an intent is planned.
#[derive(Debug, Clone, Copy)]
pub struct PlanOptions<'o> {
    /// What phases and agents are taken from; nothing if ids were not looked up.
    pub registry: Option<&'o Registry>,
    /// When the plan is made.
    pub created_at: Timestamp,
    /// What happens when a budget does not hold.
    pub over_budget: OverBudget,
}

/// Plans an intent. The same source gives the same bytes, apart from the time it is told.
///
/// # Errors
///
/// Fails if the risk is high and nobody reviews it (DE5), or if a budget does not hold and that is not allowed.
pub fn plan(source: &Source, options: PlanOptions<'_>) -> Result<DryExecutionResult, NonEmpty<Issue>> {
    let work = Work::of(source.intent().document(), options.registry);
    let changes = Changes::of(&work).ok_or_else(internal)?;
    let reviews = Reviews::of(work.document, &changes).map_err(NonEmpty::of)?;
    let cut = Cut::of(&work, &changes);
    if options.over_budget == OverBudget::Refused
        && let Some(breaches) = NonEmpty::new(cut.breaches.clone().into_sorted())
    {
        return Err(breaches);
    }
    let planned = Planned { source, options, work: &work, changes: &changes, reviews: &reviews, cut: &cut };
    let result = planned.to_result().ok_or_else(internal)?;
    match NonEmpty::new(
        check_graph(&result.graph, !result.review_pack_stub.requires_review.is_empty()).into_sorted(),
    ) {
        None => Ok(result),
        Some(issues) => Err(issues),
    }
}

fn internal() -> NonEmpty<Issue> {
    NonEmpty::of(Issue::new(
        codes::DRY_RUN_INTERNAL,
        "the result would not have the form of its own documents",
    ))
}

/// Stands where a checksum will be; what is hashed leaves it out.
pub(crate) fn not_yet() -> Checksum {
    Checksum::of_json(&Value::Null.into())
}

/// The id of the result about this intent.
pub(crate) fn result_id(intent_id: &str, checksum: &str) -> Option<ResultId> {
    let content = Json::object([("intent_id", Json::from(intent_id)), ("checksum", Json::from(checksum))]);
    let hash = format!("{}", Sha256::of_json(&content));
    let short: String = hash.chars().take(16).collect();
    ResultId::parse(&format!("dryexec_{short}")).ok()
}

#[cfg(test)]
mod tests;
