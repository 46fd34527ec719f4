//! End-to-end tests: each runs the real program. One module per command.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod action;
mod canon;
mod documents;
mod intent;
mod program;
mod support;
