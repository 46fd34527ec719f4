//! End-to-end tests: each runs the real program. One module per command.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod action;
mod canon;
mod clients;
mod demo;
mod doctor;
mod documents;
mod dry_run;
mod exports;
mod hook;
mod http;
mod intent;
mod limits;
mod locks;
mod outages;
mod policy;
#[cfg(test)]
#[path = "../../../store/tests/it/server.rs"]
mod postgresql;
mod program;
mod proof;
mod protocol;
mod reviews;
mod scan;
mod scan_bundles;
mod scan_git;
mod scan_trees;
mod server;
mod shell_grammar;
mod support;
mod telemetry;
mod tls;
