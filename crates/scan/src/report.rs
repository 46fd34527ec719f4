//! What a scan found, kept small, put in order and shown in several ways.
//!
//! Every view is made piece by piece: a report with hundreds of thousands of violations is never a whole text or a
//! whole tree in memory.

mod github;
mod json;
mod junit;
mod markdown;
mod path;
mod sarif;
mod text;

use alloc::{format, string::String, vec::Vec};

use countersign_canon::choice;

pub use self::{path::show_path, text::Paint};
use crate::{
    load::{Bundle, Rule},
    search::{Finding, escape_text},
    verdict::{Mode, Outcome, RuleType, SkipReason},
    wire::Pattern,
};

choice! {
    /// How a report is written.
    pub enum Format {
        /// The verdict document.
        Json = "json",
        /// For people at a terminal.
        Text = "text",
        /// SARIF 2.1.0, for code scanning.
        Sarif = "sarif",
        /// JUnit XML, for test reports.
        Junit = "junit",
        /// GitHub workflow annotations.
        Github = "github",
        /// Markdown, for a summary or a comment.
        Markdown = "markdown",
    }
}

/// What was found in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFindings {
    /// The path, relative to the target.
    pub path: Vec<u8>,
    /// The rules that meet the file, in order.
    pub rules: Vec<u32>,
    /// What was found, by pattern.
    pub findings: Vec<Finding>,
}

/// Something that was not searched.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedPath {
    /// The path, relative to the target.
    pub path: Vec<u8>,
    /// Why.
    pub reason: SkipReason,
}

/// Which files were looked at, and between which commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Which files.
    pub mode: Mode,
    /// The commit that changes are counted from.
    pub base: Option<String>,
    /// The commit whose files were read.
    pub head: Option<String>,
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Regular files in folders that a glob can reach.
    pub files_considered: u64,
    /// Files that a glob matches.
    pub files_matched: u64,
    /// Bytes of the matched files.
    pub bytes_searched: u64,
    /// Rule files of the bundle itself that were left out.
    pub rule_files_excluded: u64,
}

impl Counts {
    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            files_considered: self.files_considered.saturating_add(other.files_considered),
            files_matched: self.files_matched.saturating_add(other.files_matched),
            bytes_searched: self.bytes_searched.saturating_add(other.bytes_searched),
            rule_files_excluded: self.rule_files_excluded.saturating_add(other.rule_files_excluded),
        }
    }
}

/// Everything a scan found, in the order of the verdict.
#[derive(Debug)]
pub struct Report<'b> {
    bundle: &'b Bundle,
    scope: Scope,
    counts: Counts,
    // INVARIANT: sorted by path bytes.
    skipped: Vec<SkippedPath>,
    // INVARIANT: sorted by path bytes.
    files: Vec<FileFindings>,
    // INVARIANT: sorted.
    entries: Vec<Entry>,
}

/// One violation, by places: the order of the fields is the order of the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    rule: u32,
    file: u32,
    /// The place of the pattern in its rule.
    pattern: u32,
    finding: u32,
}

/// One rule broken by one file with one pattern.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Broken<'r> {
    pub(crate) rule_index: u32,
    pub(crate) rule: &'r Rule,
    pub(crate) path: &'r [u8],
    pub(crate) pattern: &'r Pattern,
    pub(crate) finding: &'r Finding,
}

impl<'b> Report<'b> {
    /// Puts everything in order; it does not matter in which order it comes.
    #[must_use]
    pub fn new(
        bundle: &'b Bundle,
        scope: Scope,
        counts: Counts,
        mut skipped: Vec<SkippedPath>,
        mut files: Vec<FileFindings>,
    ) -> Self {
        skipped.sort_unstable();
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        let mut entries = Vec::new();
        for (file, file_index) in files.iter().zip(0_u32..) {
            for &rule_index in &file.rules {
                let Some(rule) = bundle.rule(rule_index) else { continue };
                for (id, pattern) in rule.patterns.iter().zip(0_u32..) {
                    let finding = file.findings.binary_search_by_key(id, |finding| finding.pattern).ok();
                    let finding = finding.and_then(|finding| u32::try_from(finding).ok());
                    entries.extend(finding.map(|finding| Entry {
                        rule: rule_index,
                        file: file_index,
                        pattern,
                        finding,
                    }));
                }
            }
        }
        entries.sort_unstable();
        Self { bundle, scope, counts, skipped, files, entries }
    }

    /// Whether the target keeps the rules.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        if self.entries.is_empty() { Outcome::Pass } else { Outcome::Fail }
    }

    /// How many violations there are.
    #[must_use]
    pub fn violation_count(&self) -> usize {
        self.entries.len()
    }

    /// How much was looked at.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// The report in this format, piece by piece.
    pub fn pieces(&self, format: Format, paint: Paint) -> impl Iterator<Item = String> + '_ {
        let pieces: alloc::boxed::Box<dyn Iterator<Item = String> + '_> = match format {
            Format::Json => alloc::boxed::Box::new(json::pieces(self)),
            Format::Text => alloc::boxed::Box::new(text::pieces(self, paint)),
            Format::Sarif => alloc::boxed::Box::new(sarif::pieces(self)),
            Format::Junit => alloc::boxed::Box::new(junit::pieces(self)),
            Format::Github => alloc::boxed::Box::new(github::pieces(self)),
            Format::Markdown => alloc::boxed::Box::new(markdown::pieces(self)),
        };
        pieces
    }

    /// Every violation, in order.
    pub(crate) fn broken(&self) -> impl Iterator<Item = Broken<'_>> {
        self.entries.iter().filter_map(|entry| {
            let rule = self.bundle.rule(entry.rule)?;
            let file = self.files.get(usize::try_from(entry.file).ok()?)?;
            let finding = file.findings.get(usize::try_from(entry.finding).ok()?)?;
            let pattern = self.bundle.pattern(finding.pattern)?;
            Some(Broken { rule_index: entry.rule, rule, path: &file.path, pattern, finding })
        })
    }

    /// Violations by rule, in order: the rule and how many there are.
    pub(crate) fn by_rule(&self) -> Vec<(u32, &Rule, usize)> {
        let mut rules: Vec<(u32, &Rule, usize)> = Vec::new();
        for entry in &self.entries {
            match rules.last_mut() {
                Some((index, _, count)) if *index == entry.rule => *count = count.saturating_add(1),
                Some(_) | None => {
                    rules.extend(self.bundle.rule(entry.rule).map(|rule| (entry.rule, rule, 1)));
                }
            }
        }
        rules
    }
}

impl Broken<'_> {
    /// What is wrong, in words.
    pub(crate) fn reason(&self) -> String {
        // LIMIT: a pattern may have thousands of characters; the whole of it is in the evidence.
        let shown: String = self.pattern.as_str().chars().take(80).collect();
        let cut = if shown.len() < self.pattern.as_str().len() { "…" } else { "" };
        let shown = escape_text(&shown);
        match self.rule.rule_type {
            RuleType::Boundary => format!("the file contains the forbidden pattern `{shown}{cut}`"),
            RuleType::Invariant => format!("the file contains `{shown}{cut}`, which must be absent"),
        }
    }
}

/// `1 file`, `2 files`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
