//! Tests of the kernel from outside: documents in, documents out.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test fails by panicking"
)]

mod compare;
mod corpus;
mod formula;
mod kernel;
mod properties;
mod random;
mod shipped;
