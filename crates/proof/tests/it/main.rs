//! Tests of theorems from outside: documents in, certificates and counterexamples out.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod certificates;
mod obligations;
mod planted;
mod policies;
mod shipped;
