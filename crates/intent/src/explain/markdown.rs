//! The explanation as Markdown, for pull requests.

use alloc::{format, string::String, vec::Vec};
use core::fmt::Write as _;

use crate::{
    IntentId,
    explain::{decision, fates, registry_note},
    wire::{Dimensions, EvaluationDocument},
};

/// The explanation as Markdown.
#[must_use]
pub fn explain_markdown(result: &EvaluationDocument) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _infallible = write_all(result, &mut out);
    out
}

fn write_all(result: &EvaluationDocument, out: &mut String) -> core::fmt::Result {
    let strategy = result.evaluation.merge_plan.strategy;
    writeln!(out, "## {}", result.input.intent_set_id)?;
    writeln!(out, "\n**{strategy}**: {}", decision(result))?;
    writeln!(out, "\nResult `{}`, made {}", result.id, result.created_at)?;
    if let Some(note) = registry_note(result) {
        writeln!(out, "\n> {note}")?;
    }
    writeln!(out, "\n| intent | fate | why | risk | effects | scope | blast | unknowns |")?;
    writeln!(out, "| --- | --- | --- | --- | ---: | ---: | ---: | ---: |")?;
    for (entry, fate) in fates(result) {
        let Dimensions { effects_risk, scope_risk, blast_radius, unknowns } = &entry.dimensions;
        writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} | {} | {} |",
            entry.intent_id,
            fate.word(),
            cell(&fate.because()),
            entry.overall_risk,
            effects_risk.get(),
            scope_risk.get(),
            blast_radius.get(),
            unknowns.get()
        )?;
    }
    if !result.evaluation.conflicts.is_empty() {
        writeln!(out, "\n### Conflicts\n")?;
        writeln!(out, "| severity | type | between | what |")?;
        writeln!(out, "| --- | --- | --- | --- |")?;
    }
    for conflict in &result.evaluation.conflicts {
        let between: Vec<String> =
            conflict.intent_ids.iter().map(|id: &IntentId| format!("`{id}`")).collect();
        let what = cell(conflict.description.as_str());
        writeln!(out, "| {} | {} | {} | {what} |", conflict.severity, conflict.kind, between.join(", "))?;
    }
    if !result.requires_questions.is_empty() {
        writeln!(out, "\n### Questions")?;
    }
    for question in &result.requires_questions {
        let blocked = if question.blocked_by_policy == Some(true) { " (blocked by policy)" } else { "" };
        writeln!(out, "\n**`{}`**{blocked}\n\n{}\n", question.question_id, line(question.reason.as_str()))?;
        for option in question.options.iter() {
            let (label, follows) = (line(option.label.as_str()), line(option.implications.as_str()));
            writeln!(out, "- `{}` {label}: {follows}", option.option_id)?;
        }
    }
    Ok(())
}

/// Text in a table cell: one line, and no bar that would end it.
fn cell(text: &str) -> String {
    line(text).replace('|', "\\|")
}

fn line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
