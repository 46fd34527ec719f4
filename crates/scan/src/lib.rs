//! Says which rules a file breaks, given its path and its bytes.
//!
//! Rules are globs and plain texts: a file whose path meets a glob of a rule must not contain any of the rule's
//! patterns. How files are found and read is not known here; see [`Plan`] for how they are judged, [`Bundle`] for how
//! rules are checked, and [`Report`] for what comes out.
#![no_std]
extern crate alloc;

pub mod codes;
mod explain;
mod glob;
mod load;
mod report;
mod search;
mod verdict;
mod wire;

pub use crate::{
    explain::{Expectation, Explanation, Trial, run_tests},
    glob::{Folder, GLOB_ALTERNATIVES_MAX, GLOB_BYTES_MAX, Glob, GlobSet},
    load::{Bundle, FileIssue, PolicyHash, Rule, RuleFiles},
    report::{Counts, FileFindings, Format, Paint, Report, Scope, SkippedPath, show_path},
    search::{EXCERPT_CHARS_MAX, FileSearch, Finding, PatternSet, Piece, Plan, Sets, escape_text},
    verdict::{
        Count, Encoding, Evidence, Mode, Ordinal, Outcome, PolicySummary, RuleType, SkipReason, Skipped,
        Stats, Target, Verdict, VerdictVersion, Violation,
    },
    wire::{
        BoundariesFile, BoundaryMatch, BoundaryRule, DeprecatedFile, DeprecatedMatch, DeprecatedRule,
        Enforcement, FailMode, Globs, InvariantMatch, InvariantRule, InvariantsFile, PATTERN_CHARS_MAX,
        Pattern, Patterns, Prose, RULE_GLOBS_MAX, RULE_PATTERNS_MAX, RULES_MAX, RuleFileName, RuleId,
        RuleTests, TestFile, Title,
    },
};
