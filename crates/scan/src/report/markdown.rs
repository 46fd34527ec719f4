//! Markdown, for a job summary or a comment: a table for each broken rule.

use alloc::{format, string::String};

use super::{Broken, Report, counted, text::shown_path};
use crate::{search::escape_text, verdict::Outcome};

pub(super) fn pieces<'r>(report: &'r Report<'_>) -> impl Iterator<Item = String> + use<'r> {
    let mut last_rule = None;
    let violations = report.broken().map(move |broken| {
        let heading = if last_rule == Some(broken.rule_index) { String::new() } else { heading(&broken) };
        last_rule = Some(broken.rule_index);
        let finding = broken.finding;
        let path = code(&shown_path(broken.path));
        format!("{heading}| {path} | {}:{} | {} |\n", finding.line, finding.column, code(&finding.excerpt))
    });
    [head(report)].into_iter().chain(violations).chain([skipped(report)])
}

fn head(report: &Report<'_>) -> String {
    let counts = report.counts;
    let files = counted(counts.files_matched, "file", "files");
    let rules = counted(u64::try_from(report.bundle.rules().len()).unwrap_or(u64::MAX), "rule", "rules");
    let searched = format!("{files} of {} searched, {rules} enforced.", counts.files_considered);
    match report.outcome() {
        Outcome::Pass => format!("## Countersign scan: PASS\n\n{searched}\n"),
        Outcome::Fail => {
            let found = u64::try_from(report.entries.len()).unwrap_or(u64::MAX);
            format!(
                "## Countersign scan: FAIL\n\n{}; {searched}\n",
                counted(found, "violation", "violations")
            )
        }
    }
}

fn heading(broken: &Broken<'_>) -> String {
    let rule = broken.rule;
    let title = plain(rule.title.as_str());
    let mut heading = format!("\n### {}: {title} ({})\n\n", code(rule.id.as_str()), rule.rule_type);
    if let Some(prose) = &rule.remediation {
        heading.push_str(&format!("Remediation: {}\n\n", plain(prose.as_str().trim_end())));
    }
    heading.push_str("| file | place | line |\n| --- | --- | --- |\n");
    heading
}

fn skipped(report: &Report<'_>) -> String {
    let lines = report
        .skipped
        .iter()
        .map(|skipped| format!("- {} ({})\n", code(&shown_path(&skipped.path)), skipped.reason));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\nNot searched:\n\n{lines}") }
}

/// Text in which nothing is markup and nobody is mentioned.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in escape_text(text).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '@' => escaped.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => escaped.extend(['\\', character]),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A code span in a table, fenced with more back-ticks than the text has in a row.
fn code(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence: String = core::iter::repeat_n('`', longest.saturating_add(1)).collect();
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", text.replace('|', "\\|"))
}
