//! GitHub workflow annotations: one error line for each violation, and the total, as GitHub shows only the first ten.

use alloc::{format, string::String};

use super::{Broken, Report, counted, show_path};
use crate::{search::escape_text, verdict::Outcome};

pub(super) fn pieces<'r>(report: &'r Report<'_>) -> impl Iterator<Item = String> + use<'r> {
    report.broken().map(|broken| annotation(&broken)).chain([summary(report)])
}

fn annotation(broken: &Broken<'_>) -> String {
    let Broken { rule_index: _, rule, path, pattern: _, finding } = broken;
    let advice = rule
        .remediation
        .as_ref()
        .map_or_else(String::new, |prose| format!("\nremediation: {}", prose.as_str().trim_end()));
    let message = format!("{}: {}\n{}{advice}", rule.id, broken.reason(), finding.excerpt);
    format!(
        "::error file={},line={},col={},title={}::{}\n",
        property(&show_path(path)),
        finding.line,
        finding.column,
        property(&format!("{} {}", rule.id, escape_text(rule.title.as_str()))),
        data(&message),
    )
}

fn summary(report: &Report<'_>) -> String {
    let found = u64::try_from(report.entries.len()).unwrap_or(u64::MAX);
    let searched = counted(report.counts.files_matched, "file", "files");
    match report.outcome() {
        Outcome::Pass => format!("countersign scan: PASS, {searched} searched\n"),
        Outcome::Fail => {
            format!(
                "countersign scan: FAIL, {}, {searched} searched\n",
                counted(found, "violation", "violations")
            )
        }
    }
}

/// The message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
