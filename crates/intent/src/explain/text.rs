//! The explanation as plain text.

use alloc::{format, string::String, vec::Vec};
use core::fmt::Write as _;

use crate::{
    IntentId,
    explain::{decision, fates, registry_note},
    wire::{Dimensions, EvaluationDocument},
};

/// The explanation as plain text.
#[must_use]
pub fn explain_text(result: &EvaluationDocument) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _infallible = write_all(result, &mut out);
    out
}

fn write_all(result: &EvaluationDocument, out: &mut String) -> core::fmt::Result {
    let strategy = result.evaluation.merge_plan.strategy;
    writeln!(out, "Set       {}", result.input.intent_set_id)?;
    writeln!(out, "Result    {}  {}", result.id, result.created_at)?;
    writeln!(out, "Decision  {strategy}: {}", decision(result))?;
    for pack in result.lineage.answer_packs.iter() {
        writeln!(out, "Answers   {}", pack.id)?;
    }
    if let Some(note) = registry_note(result) {
        writeln!(out, "Note      {note}")?;
    }
    let fates = fates(result);
    let width = fates.iter().map(|(entry, _)| entry.intent_id.as_str().len()).max().unwrap_or(0);
    writeln!(out, "\nIntents")?;
    for (entry, fate) in &fates {
        let line = format!("  {:<12}  {:<width$}  {}", fate.word(), entry.intent_id.as_str(), fate.because());
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out, "\nConflicts: {}", result.evaluation.conflicts.len())?;
    for conflict in &result.evaluation.conflicts {
        let between: Vec<&str> = conflict.intent_ids.iter().map(IntentId::as_str).collect();
        writeln!(out, "  {:<8}  {}  {}", conflict.severity.as_str(), conflict.kind, conflict.conflict_id)?;
        writeln!(out, "            {}", between.join(" x "))?;
        writeln!(out, "            {}", conflict.description.as_str())?;
        for reference in conflict.evidence_refs.iter().take(4) {
            writeln!(out, "            see {reference}")?;
        }
        if conflict.evidence_refs.len() > 4 {
            writeln!(out, "            and {} more places", conflict.evidence_refs.len().saturating_sub(4))?;
        }
    }
    if !result.requires_questions.is_empty() {
        writeln!(out, "\nQuestions: {}", result.requires_questions.len())?;
    }
    for question in &result.requires_questions {
        let blocked = if question.blocked_by_policy == Some(true) {
            "  blocked by policy: nobody may be asked"
        } else {
            ""
        };
        writeln!(out, "  {}{blocked}", question.question_id)?;
        writeln!(out, "    {}", question.reason.as_str())?;
        for option in question.options.iter() {
            writeln!(out, "    - {}: {}", option.option_id, option.label.as_str())?;
            writeln!(out, "      {}", option.implications.as_str())?;
        }
    }
    writeln!(out, "\nRisk (0 to 100)")?;
    writeln!(out, "  {:<width$}  {:<8}  effects  scope  blast  unknowns", "intent", "overall")?;
    for (entry, _) in &fates {
        let Dimensions { effects_risk, scope_risk, blast_radius, unknowns } = &entry.dimensions;
        writeln!(
            out,
            "  {:<width$}  {:<8}  {:>7}  {:>5}  {:>5}  {:>8}",
            entry.intent_id.as_str(),
            entry.overall_risk.as_str(),
            effects_risk.get(),
            scope_risk.get(),
            blast_radius.get(),
            unknowns.get()
        )?;
    }
    Ok(())
}
