//! The real Codex, with the hooks that `countersign install` gives it and tells it to trust.

use super::{agent::Agent, scenes};

const AGENT: Agent = Agent::Codex;

#[test]
fn without_the_hooks_everything_runs() {
    scenes::without_the_hooks_everything_runs(AGENT);
}

#[test]
fn denied_does_not_run_allowed_does_and_approved_runs_once() {
    scenes::denied_does_not_run_allowed_does_and_approved_runs_once(AGENT);
}

#[test]
fn sub_agents_are_governed_too() {
    scenes::sub_agents_are_governed_too(AGENT);
}

#[test]
fn file_edits_are_governed() {
    scenes::file_edits_are_governed(AGENT);
}

#[test]
fn mcp_tools_are_governed() {
    scenes::mcp_tools_are_governed(AGENT);
}

#[test]
fn a_hook_that_panics_is_a_no() {
    scenes::a_hook_that_panics_is_a_no(AGENT);
}

#[test]
fn a_hook_without_a_decision_in_time_is_a_no() {
    scenes::a_hook_without_a_decision_in_time_is_a_no(AGENT);
}

#[test]
fn a_broken_policy_is_a_no() {
    scenes::a_broken_policy_is_a_no(AGENT);
}

#[test]
fn a_missing_store_is_a_no() {
    scenes::a_missing_store_is_a_no(AGENT);
}

#[test]
fn garbage_from_the_host_is_a_no() {
    scenes::garbage_from_the_host_is_a_no(AGENT);
}
