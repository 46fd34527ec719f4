//! The explanation as plain text.

use alloc::{format, string::String, vec::Vec};
use core::fmt::{Result, Write as _};

use crate::{
    CommitId,
    explain::{before, counted, effects, lane_of, reviewers, summary},
    wire::{DryExecutionResult, NodeType},
};

/// The explanation as plain text.
#[must_use]
pub fn explain_text(result: &DryExecutionResult) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _infallible = write_all(result, &mut out);
    out
}

fn write_all(result: &DryExecutionResult, out: &mut String) -> Result {
    let stub = &result.review_pack_stub;
    writeln!(out, "Intent    {}  {}", result.intent_ref.intent_id, result.intent_ref.version.as_str())?;
    writeln!(out, "Result    {}  {}", result.result_id, result.created_at)?;
    writeln!(out, "Plan      {}; nothing was done", summary(result))?;
    writeln!(out, "Risk      {}; review by {}", stub.risk_summary.dominant_risk, reviewers(result))?;
    for warning in result.metadata.warnings.iter() {
        writeln!(out, "Warning   {}: {}", warning.code, warning.message.as_str())?;
    }
    steps(result, out)?;
    files(result, out)?;
    commits(result, out)?;
    let time = stub.estimated_review_time.minutes.get();
    let coverage = &stub.evidence_coverage;
    writeln!(out, "\nReview: about {time} minutes")?;
    for factor in stub.risk_summary.risk_factors.iter() {
        writeln!(out, "  risk      {}", factor.as_str())?;
    }
    for note in stub.risk_summary.mitigation_notes.iter() {
        writeln!(out, "  against   {}", note.as_str())?;
    }
    let (with, total) = (coverage.nodes_with_evidence.get(), coverage.total_nodes.get());
    writeln!(out, "  evidence  {with} of {total} nodes, {} %", coverage.coverage_percentage.get())?;
    writeln!(out, "\nMade from")?;
    for from in result.lineage.derived_from.iter() {
        writeln!(out, "  {:<18}  {}  {}", from.kind.as_str(), from.id.as_str(), from.checksum)?;
    }
    Ok(())
}

fn steps(result: &DryExecutionResult, out: &mut String) -> Result {
    writeln!(out, "\nSteps")?;
    for node in result.graph.nodes.iter() {
        let (id, label) = (node.node_id.as_str(), node.label.as_str());
        match node.node_type {
            NodeType::DecisionPoint => writeln!(out, "  {id}  {label}")?,
            NodeType::Phase => writeln!(out, "  {id}  {label}")?,
            NodeType::ReviewCheckpoint => writeln!(out, "    {id}  {label}")?,
            NodeType::ActionPlan => {
                writeln!(out, "    {id}  {label}")?;
                let after = before(result, node).join(", ");
                let (agent, effects, risk) = (lane_of(result, node), effects(node), node.risk_level);
                writeln!(out, "                {agent}; {effects}; risk {risk}; after {after}")?;
            }
        }
    }
    Ok(())
}

fn files(result: &DryExecutionResult, out: &mut String) -> Result {
    let plan = &result.patch_plan;
    writeln!(out, "\nFiles: {}", plan.files.len())?;
    for file in plan.files.iter() {
        writeln!(out, "  {:<6}  {}  risk {}", file.action.as_str(), file.path, file.risk)?;
        writeln!(out, "          {}", file.rationale.as_str())?;
    }
    if !plan.unknowns.is_empty() {
        writeln!(out, "\nNot known: {}", counted(plan.unknowns.len(), "thing"))?;
    }
    for unknown in plan.unknowns.iter() {
        writeln!(out, "  {}  {}", unknown.kind, unknown.description.as_str())?;
        writeln!(out, "    needed: {}", unknown.needed_evidence.as_str())?;
    }
    Ok(())
}

fn commits(result: &DryExecutionResult, out: &mut String) -> Result {
    let plan = &result.commit_plan;
    let budget = if plan.metadata.respects_max_commits_budget { "" } else { ", over the budgets" };
    writeln!(out, "\nCommits: {}{budget}", plan.commits.len())?;
    for commit in plan.commits.iter() {
        writeln!(out, "  {}  {}", commit.commit_id, commit.title.as_str())?;
        let after: Vec<&str> = commit.depends_on.iter().map(CommitId::as_str).collect();
        let after = if after.is_empty() { String::new() } else { format!("; after {}", after.join(", ")) };
        writeln!(
            out,
            "              risk {}; taken back by {}{after}",
            commit.risk, commit.rollback_strategy
        )?;
        for path in commit.files.iter() {
            writeln!(out, "              {path}")?;
        }
    }
    Ok(())
}
