//! The explanation as Markdown, for pull requests.

use alloc::{format, string::String, vec::Vec};
use core::fmt::{Result, Write as _};

use crate::{
    CommitId,
    explain::{before, effects, lane_of, reviewers, summary},
    wire::{DryExecutionResult, NodeType},
};

/// The explanation as Markdown.
#[must_use]
pub fn explain_markdown(result: &DryExecutionResult) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _infallible = write_all(result, &mut out);
    out
}

fn write_all(result: &DryExecutionResult, out: &mut String) -> Result {
    let stub = &result.review_pack_stub;
    writeln!(out, "## Dry run of `{}`", result.intent_ref.intent_id)?;
    writeln!(out, "\n**{}**; nothing was done", summary(result))?;
    writeln!(out, "\nRisk **{}**, review by {}", stub.risk_summary.dominant_risk, reviewers(result))?;
    writeln!(out, "\nResult `{}`, made {}", result.result_id, result.created_at)?;
    for warning in result.metadata.warnings.iter() {
        writeln!(out, "\n> `{}` {}", warning.code, cell(warning.message.as_str()))?;
    }
    writeln!(out, "\n| step | what | agent | effects | risk | after |")?;
    writeln!(out, "| --- | --- | --- | --- | --- | --- |")?;
    for node in result.graph.nodes.iter() {
        let label = cell(node.label.as_str());
        let label = match node.node_type {
            NodeType::Phase => format!("**{label}**"),
            NodeType::ReviewCheckpoint => format!("◆ {label}"),
            NodeType::ActionPlan | NodeType::DecisionPoint => label,
        };
        let (agent, after) = (lane_of(result, node), before(result, node).join(", "));
        writeln!(
            out,
            "| `{}` | {label} | {agent} | {} | {} | {after} |",
            node.node_id,
            effects(node),
            node.risk_level
        )?;
    }
    files(result, out)?;
    commits(result, out)
}

fn files(result: &DryExecutionResult, out: &mut String) -> Result {
    let plan = &result.patch_plan;
    if !plan.files.is_empty() {
        writeln!(
            out,
            "\n### Files\n\n| file | action | risk | impact | why |\n| --- | --- | --- | --- | --- |"
        )?;
    }
    for file in plan.files.iter() {
        let (path, why) = (cell(&format!("{}", file.path)), cell(file.rationale.as_str()));
        writeln!(out, "| `{path}` | {} | {} | {} | {why} |", file.action, file.risk, file.estimated_impact)?;
    }
    if !plan.unknowns.is_empty() {
        writeln!(out, "\n### Not known\n")?;
    }
    for unknown in plan.unknowns.iter() {
        let (what, needed) = (cell(unknown.description.as_str()), cell(unknown.needed_evidence.as_str()));
        writeln!(out, "- **{}** {what}. Needed: {needed}", unknown.kind)?;
    }
    Ok(())
}

fn commits(result: &DryExecutionResult, out: &mut String) -> Result {
    let plan = &result.commit_plan;
    if !plan.commits.is_empty() {
        writeln!(out, "\n### Commits\n\n| commit | what | files | after | taken back by |")?;
        writeln!(out, "| --- | --- | ---: | --- | --- |")?;
    }
    for commit in plan.commits.iter() {
        let after: Vec<&str> = commit.depends_on.iter().map(CommitId::as_str).collect();
        let (title, after) = (cell(commit.title.as_str()), after.join(", "));
        writeln!(
            out,
            "| `{}` | {title} | {} | {after} | {} |",
            commit.commit_id,
            commit.files.len(),
            commit.rollback_strategy
        )?;
    }
    Ok(())
}

/// Text in a table cell: one line, and no bar that would end it.
fn cell(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace('|', "\\|")
}
