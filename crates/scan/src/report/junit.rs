//! JUnit XML: a failing test for each violation, a passing one for each rule that is kept.

use alloc::{collections::BTreeSet, format, string::String};

use super::{Broken, Report, text::shown_path};
use crate::{load::Rule, search::escape_text};

pub(super) fn pieces<'r>(report: &'r Report<'_>) -> impl Iterator<Item = String> + use<'r> {
    let broken: BTreeSet<u32> = report.by_rule().iter().map(|(index, _, _)| *index).collect();
    let kept = report.bundle.rules().iter().zip(0_u32..).filter(move |(_, index)| !broken.contains(index));
    let failures = report.entries.len();
    let tests = failures.saturating_add(report.bundle.rules().len()).saturating_sub(report.by_rule().len());
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    let head = format!(
        concat!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
            "<testsuites name=\"countersign\" {counts}>\n",
            "  <testsuite name=\"countersign scan\" {counts} skipped=\"0\">\n"
        ),
        counts = counts
    );
    let tail = String::from("  </testsuite>\n</testsuites>\n");
    [head]
        .into_iter()
        .chain(report.broken().map(|broken| failed(&broken)))
        .chain(kept.map(|(rule, _)| passed(rule)))
        .chain([tail])
}

fn class(rule: &Rule) -> String {
    xml(&format!("{}.{}", rule.rule_type, rule.id))
}

fn failed(broken: &Broken<'_>) -> String {
    let Broken { rule_index: _, rule, path, pattern, finding } = broken;
    let path = shown_path(path);
    let advice = rule
        .remediation
        .as_ref()
        .map_or_else(String::new, |prose| format!("\nremediation: {}", escape_text(prose.as_str())));
    let place = format!("{path}:{}:{}", finding.line, finding.column);
    format!(
        concat!(
            "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\">\n",
            "      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
            "    </testcase>\n"
        ),
        class(rule),
        xml(&format!("{path}: {}", escape_text(pattern.as_str()))),
        xml(&path),
        finding.line,
        rule.rule_type,
        xml(&format!("{}: {}", escape_text(rule.title.as_str()), broken.reason())),
        xml(&format!("{place}: {}{advice}", finding.excerpt)),
    )
}

fn passed(rule: &Rule) -> String {
    format!(
        "    <testcase classname=\"{}\" name=\"{}\"/>\n",
        class(rule),
        xml(&escape_text(rule.title.as_str()))
    )
}

/// Text for an attribute or an element; what XML cannot hold at all becomes U+FFFD.
fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push(char::REPLACEMENT_CHARACTER),
            '\n' => escaped.push_str("&#10;"),
            _ => escaped.push(character),
        }
    }
    escaped
}
