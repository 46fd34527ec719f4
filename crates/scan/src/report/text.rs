//! The report for people at a terminal: grouped by rule, with the line, a caret and what to do.

use alloc::{format, string::String, vec::Vec};

use super::{Broken, Report, counted, show_path};
use crate::{
    search::escape_text,
    verdict::{Encoding, Outcome},
};

/// Whether text is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Plain text.
    Plain,
    /// Coloured with ANSI escapes.
    Colour,
}

#[derive(Clone, Copy)]
enum Ink {
    Bold,
    Red,
    Green,
    Faint,
}

impl Paint {
    fn ink(self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Bold => "1",
            Ink::Red => "1;31",
            Ink::Green => "1;32",
            Ink::Faint => "2",
        };
        match self {
            Self::Plain => text.into(),
            Self::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

pub(super) fn pieces<'r>(report: &'r Report<'_>, paint: Paint) -> impl Iterator<Item = String> + use<'r> {
    let mut last_rule = None;
    let mut last_path: Option<&[u8]> = None;
    let violations = report.broken().map(move |broken| {
        let mut piece = String::new();
        if last_rule != Some(broken.rule_index) {
            piece.push_str(if last_rule.is_some() { "\n" } else { "" });
            last_rule = Some(broken.rule_index);
            last_path = None;
            piece.push_str(&heading(&broken, paint));
        }
        if last_path != Some(broken.path) {
            last_path = Some(broken.path);
            piece.push_str(&format!("\n  {}\n", paint.ink(Ink::Bold, &shown_path(broken.path))));
        }
        piece.push_str(&place(&broken, paint));
        piece
    });
    violations.chain([skipped(report)]).chain([summary(report, paint)])
}

fn heading(broken: &Broken<'_>, paint: Paint) -> String {
    let rule = broken.rule;
    let id = paint.ink(Ink::Red, rule.id.as_str());
    let mut heading = format!("{id} {} ({})\n", escape_text(rule.title.as_str()), rule.rule_type);
    let advice = [("remediation", &rule.remediation), ("rationale", &rule.rationale)];
    for (label, prose) in advice {
        if let Some(prose) = prose {
            heading.push_str(&format!("  {}", paint.ink(Ink::Faint, &format!("{label}: "))));
            let lines: Vec<_> = prose.as_str().trim_end().lines().map(escape_text).collect();
            heading.push_str(&lines.join("\n    "));
            heading.push('\n');
        }
    }
    if let Some(owner) = &rule.owner {
        heading.push_str(&format!("  {}{}\n", paint.ink(Ink::Faint, "owner: "), escape_text(owner.as_str())));
    }
    heading
}

fn place(broken: &Broken<'_>, paint: Paint) -> String {
    let finding = broken.finding;
    let number = format!("{}", finding.line);
    let margin: String = core::iter::repeat_n(' ', number.len()).collect();
    let before: String = core::iter::repeat_n(' ', usize::from(finding.excerpt_start)).collect();
    let caret: String = core::iter::repeat_n('^', usize::from(finding.excerpt_length.max(1))).collect();
    let encoding = match finding.encoding {
        Some(encoding @ (Encoding::Utf16Le | Encoding::Utf16Be)) => format!(" (read as {encoding})"),
        None => String::new(),
    };
    let bar = paint.ink(Ink::Faint, "|");
    format!(
        "    {} {bar} {}\n    {margin} {bar} {before}{} column {}{encoding}\n",
        paint.ink(Ink::Faint, &number),
        finding.excerpt,
        paint.ink(Ink::Red, &caret),
        finding.column,
    )
}

fn skipped(report: &Report<'_>) -> String {
    let lines = report
        .skipped
        .iter()
        .map(|skipped| format!("not searched: {} ({})\n", shown_path(&skipped.path), skipped.reason));
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn summary(report: &Report<'_>, paint: Paint) -> String {
    let counts = report.counts;
    let files = counted(counts.files_matched, "file", "files");
    let rules = counted(u64::try_from(report.bundle.rules().len()).unwrap_or(u64::MAX), "rule", "rules");
    let searched = format!("{files} of {} searched, {rules} enforced", counts.files_considered);
    match report.outcome() {
        Outcome::Pass => format!("{}: {searched}\n", paint.ink(Ink::Green, "PASS")),
        Outcome::Fail => {
            let found =
                counted(u64::try_from(report.entries.len()).unwrap_or(u64::MAX), "violation", "violations");
            let broken = report.by_rule().len();
            let broken = counted(u64::try_from(broken).unwrap_or(u64::MAX), "rule", "rules");
            format!("\n{}: {found} of {broken}; {searched}\n", paint.ink(Ink::Red, "FAIL"))
        }
    }
}

/// A path on one line, whatever its name holds.
pub(super) fn shown_path(path: &[u8]) -> String {
    escape_text(&show_path(path)).into_owned()
}
