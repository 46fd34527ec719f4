//! The verdict document, one violation at a time.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Text, Wire};

use super::{Broken, Report, show_path};
use crate::verdict::{
    Count, Evidence, Ordinal, PolicySummary, RuleType, Skipped, Stats, Target, Verdict, VerdictVersion,
    Violation,
};

/// The document in its one spelling: keys sorted, two spaces, a final line break.
pub(super) fn pieces<'r>(report: &'r Report<'_>) -> impl Iterator<Item = String> + use<'r> {
    // `violations` is the last key, so that the document without them is the head of the document with them.
    let head = document(report).write().to_pretty();
    let (head, tail) = match head.strip_suffix("[]\n}\n") {
        Some(head) if !report.entries.is_empty() => (format!("{head}[\n"), "\n  ]\n}\n"),
        Some(_) | None => (head, ""),
    };
    let violations = report.broken().enumerate().map(|(index, broken)| {
        let separator = if index == 0 { "" } else { ",\n" };
        format!("{separator}{}", indented(&violation(&broken).write().to_pretty()))
    });
    [head].into_iter().chain(violations).chain([String::from(tail)])
}

/// The lines moved four spaces to the right, without the last line break.
fn indented(text: &str) -> String {
    let mut moved = String::with_capacity(text.len().saturating_add(128));
    for (index, line) in text.lines().enumerate() {
        moved.push_str(if index == 0 { "    " } else { "\n    " });
        moved.push_str(line);
    }
    moved
}

/// The verdict without its violations.
fn document(report: &Report<'_>) -> Verdict {
    let bundle = report.bundle;
    Verdict {
        schema_version: VerdictVersion::V0_1,
        verdict: report.outcome(),
        policy: PolicySummary {
            hash: *bundle.hash(),
            boundaries: count_of(bundle.count(RuleType::Boundary)),
            invariants: count_of(bundle.count(RuleType::Invariant)),
            deprecated_ignored: count_of(bundle.deprecated_ignored()),
        },
        target: Target {
            mode: report.scope.mode,
            base: report.scope.base.clone(),
            head: report.scope.head.clone(),
        },
        stats: Stats {
            files_considered: count(report.counts.files_considered),
            files_matched: count(report.counts.files_matched),
            bytes_searched: count(report.counts.bytes_searched),
            rules: count_of(bundle.rules().len()),
            rule_files_excluded: count(report.counts.rule_files_excluded),
        },
        skipped: report
            .skipped
            .iter()
            .map(|skipped| Skipped { file: show_path(&skipped.path), reason: skipped.reason })
            .collect(),
        violations: Vec::new(),
    }
}

fn violation(broken: &Broken<'_>) -> Violation {
    let Broken { rule_index: _, rule, path, pattern, finding } = broken;
    let file = show_path(path);
    Violation {
        rule_id: rule.id.clone(),
        rule_type: rule.rule_type,
        title: rule.title.clone(),
        file: file.clone(),
        reason: broken.reason(),
        evidence: Evidence {
            file,
            pattern: (*pattern).clone(),
            offset: count(finding.offset),
            line: ordinal(finding.line),
            column: ordinal(finding.column),
            excerpt: Text::cut(&finding.excerpt),
            encoding: finding.encoding,
        },
    }
}

/// LIMIT: no file or count reaches 2^53; what did would be written as that.
fn count(value: u64) -> Count {
    Count::clamped(i64::try_from(value).unwrap_or(i64::MAX))
}

fn count_of(value: usize) -> Count {
    count(u64::try_from(value).unwrap_or(u64::MAX))
}

fn ordinal(value: u64) -> Ordinal {
    Ordinal::clamped(i64::try_from(value).unwrap_or(i64::MAX))
}
