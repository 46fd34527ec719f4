//! `countersign intent`: the shipped examples, the loop of question and answer, and what is refused.

mod answers;
mod corpus;
mod examples;
mod gates;
mod layers;
mod pairs;
mod refusals;

/// Where the shipped evaluations are.
pub(crate) const EVALUATIONS: &str = "examples/intents/evaluations";
