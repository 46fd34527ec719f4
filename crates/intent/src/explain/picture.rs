//! The explanation as a picture: one card for each intent, the conflicts below, nothing to scroll sideways for.

use alloc::{format, string::String, vec::Vec};

use crate::{
    IntentId,
    explain::{Fate, decision, fates, registry_note},
    svg::{Drawing, risk_colour, severity_colour, shortened, wrapped},
    wire::{EvaluationDocument, RiskEntry},
};

const WIDTH: i64 = 1200;
const MARGIN: i64 = 32;
const CARD_HEIGHT: i64 = 64;
const LINE: i64 = 22;

/// The explanation as an SVG of 1200 units' width.
#[must_use]
pub fn explain_svg(result: &EvaluationDocument) -> String {
    let mut drawing = Drawing::new(WIDTH);
    let mut y = header(result, &mut drawing);
    for (entry, fate) in fates(result) {
        card(entry, &fate, y, &mut drawing);
        y = y.saturating_add(CARD_HEIGHT).saturating_add(12);
    }
    y = conflicts(result, y.saturating_add(16), &mut drawing);
    y = questions(result, y.saturating_add(8), &mut drawing);
    drawing.finish(y.saturating_add(MARGIN))
}

fn header(result: &EvaluationDocument, drawing: &mut Drawing) -> i64 {
    let strategy = result.evaluation.merge_plan.strategy;
    drawing.title(MARGIN, 44, &format!("{}", result.input.intent_set_id));
    drawing.text(MARGIN, 72, "#222", &shortened(&format!("{strategy}: {}", decision(result)), 130));
    drawing.small(MARGIN, 94, &format!("{}  {}", result.id, result.created_at));
    match registry_note(result) {
        Some(note) => {
            drawing.small(MARGIN, 114, note);
            138
        }
        None => 118,
    }
}

const fn fate_colour(fate: &Fate) -> &'static str {
    match fate {
        Fate::RunsNow => "#1a7f37",
        Fate::Waits(..) => "#9a6700",
        Fate::Superseded(..) => "#6e7781",
        Fate::NeedsAnswer => "#cf222e",
        Fate::Held => "#57606a",
    }
}

fn card(entry: &RiskEntry, fate: &Fate, y: i64, drawing: &mut Drawing) {
    let colour = fate_colour(fate);
    drawing.rectangle(
        [MARGIN, y, WIDTH.saturating_sub(MARGIN.saturating_mul(2)), CARD_HEIGHT],
        "#ffffff",
        "#d0d7de",
    );
    drawing.rectangle([MARGIN, y, 8, CARD_HEIGHT], colour, colour);
    let top = y.saturating_add(26);
    drawing.text(MARGIN.saturating_add(24), top, colour, fate.word());
    drawing.bold(MARGIN.saturating_add(150), top, &shortened(entry.intent_id.as_str(), 66));
    drawing.small(MARGIN.saturating_add(150), y.saturating_add(49), &shortened(&fate.because(), 90));
    let scores = [
        ("effects", entry.dimensions.effects_risk.get()),
        ("scope", entry.dimensions.scope_risk.get()),
        ("blast", entry.dimensions.blast_radius.get()),
        ("unknowns", entry.dimensions.unknowns.get()),
    ];
    let mut x = 790;
    for (name, score) in scores {
        drawing.small(x, y.saturating_add(22), &format!("{name} {score}"));
        drawing.rectangle([x, y.saturating_add(32), 80, 10], "#eaeef2", "#eaeef2");
        let width = score.saturating_mul(80).div_euclid(100);
        drawing.rectangle([x, y.saturating_add(32), width, 10], "#8c959f", "#8c959f");
        x = x.saturating_add(94);
    }
    drawing.rectangle([790, y.saturating_add(48), 10, 10], risk_colour(entry.overall_risk), "none");
    drawing.small(806, y.saturating_add(58), &format!("overall {}", entry.overall_risk));
}

fn conflicts(result: &EvaluationDocument, mut y: i64, drawing: &mut Drawing) -> i64 {
    y = y.saturating_add(8);
    drawing.bold(MARGIN, y, &format!("Conflicts: {}", result.evaluation.conflicts.len()));
    for conflict in &result.evaluation.conflicts {
        y = y.saturating_add(LINE);
        drawing.rectangle([MARGIN, y.saturating_sub(10), 10, 10], severity_colour(conflict.severity), "none");
        let between: Vec<&str> = conflict.intent_ids.iter().map(IntentId::as_str).collect();
        let head = format!("{} {}: {}", conflict.severity, conflict.kind, between.join(" × "));
        drawing.text(MARGIN.saturating_add(20), y, "#222", &shortened(&head, 130));
        y = paragraph(conflict.description.as_str(), y, drawing);
    }
    y.saturating_add(LINE)
}

fn questions(result: &EvaluationDocument, mut y: i64, drawing: &mut Drawing) -> i64 {
    if result.requires_questions.is_empty() {
        return y;
    }
    drawing.bold(MARGIN, y, &format!("Questions: {}", result.requires_questions.len()));
    for question in &result.requires_questions {
        y = y.saturating_add(LINE);
        let blocked = if question.blocked_by_policy == Some(true) { " (blocked by policy)" } else { "" };
        drawing.text(MARGIN, y, "#cf222e", &format!("{}{blocked}", question.question_id));
        y = paragraph(question.reason.as_str(), y, drawing);
        for option in question.options.iter() {
            let line = format!("• {}: {}", option.label.as_str(), option.implications.as_str());
            y = paragraph(&line, y, drawing);
        }
    }
    y.saturating_add(LINE)
}

/// Small indented lines below `y`, as many as the text needs; gives the place of the last.
fn paragraph(text: &str, mut y: i64, drawing: &mut Drawing) -> i64 {
    for line in wrapped(text, 150) {
        y = y.saturating_add(18);
        drawing.small(MARGIN.saturating_add(20), y, &line);
    }
    y
}
