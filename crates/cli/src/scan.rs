//! The repository scan's shell: finds rules and files, hands them to the pure engine, and puts its answer together.

pub(crate) mod bundle;
pub(crate) mod changes;
pub(crate) mod git;
mod judge;
pub(crate) mod progress;
mod queue;
pub(crate) mod walk;

use countersign_canon::{Issue, NonEmpty};
use countersign_scan::{Counts, FileFindings, SkippedPath, codes, escape_text, show_path};

pub(crate) use self::judge::search;

/// What a search through many files found, in no order.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) counts: Counts,
    pub(crate) skipped: Vec<SkippedPath>,
    pub(crate) files: Vec<FileFindings>,
    pub(crate) unreadable: Vec<Unreadable>,
}

/// A file or folder that a rule meets and that could not be read.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unreadable {
    pub(crate) path: Vec<u8>,
    pub(crate) error: String,
}

/// LIMIT: a broken disk must not flood the terminal; the total is said as well.
const UNREADABLE_SHOWN_MAX: usize = 20;

impl Found {
    /// Both together.
    pub(crate) fn join(mut self, other: Self) -> Self {
        self.counts = self.counts.plus(other.counts);
        self.skipped.extend(other.skipped);
        self.files.extend(other.files);
        self.unreadable.extend(other.unreadable);
        self
    }

    /// What could not be read, as issues in the order of their paths; none if all could.
    pub(crate) fn unreadable_issues(&mut self) -> Option<NonEmpty<Issue>> {
        self.unreadable.sort();
        let total = self.unreadable.len();
        let mut issues: Vec<Issue> = self
            .unreadable
            .iter()
            .take(UNREADABLE_SHOWN_MAX)
            .map(|Unreadable { path, error }| {
                let path = show_path(path);
                let message = format!("`{}` could not be read: {error}", escape_text(&path));
                Issue::new(codes::SCAN_UNREADABLE, message)
                    .with_expected("every file that a rule meets can be read")
                    .with_hint("make it readable, or scan a tree without it")
            })
            .collect();
        if let Some(more) = total.checked_sub(UNREADABLE_SHOWN_MAX).filter(|more| *more > 0) {
            issues.push(Issue::new(codes::SCAN_UNREADABLE, format!("{more} more could not be read")));
        }
        NonEmpty::new(issues)
    }
}
