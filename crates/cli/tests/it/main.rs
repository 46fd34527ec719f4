//! End-to-end tests: each runs the real program. One module per command.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod action;
mod canon;
mod clients;
mod demo;
mod documents;
mod hook;
mod intent;
mod policy;
mod program;
mod protocol;
mod scan;
mod scan_bundles;
mod scan_git;
mod scan_trees;
mod shell_grammar;
mod support;
