//! Tests of what the crate offers: the RFC's own examples, the oracle, documents as types.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    clippy::float_arithmetic,
    reason = "a test fails by panicking"
)]

mod documents;
mod numbers;
mod oracle;
mod parser;
mod rfc8785;
mod small_types;
mod spelling;
