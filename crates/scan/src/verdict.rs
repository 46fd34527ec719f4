//! The verdict: what was found, in one order, as a document.

use alloc::{string::String, vec::Vec};

use countersign_canon::{INTEGER_MAX, Text, Within, choice, record};

use crate::{
    load::PolicyHash,
    search::EXCERPT_CHARS_MAX,
    wire::{Pattern, RuleId, Title},
};

/// How many there are of something.
pub type Count = Within<0, INTEGER_MAX>;

/// A place that is counted from one.
pub type Ordinal = Within<1, INTEGER_MAX>;

choice! {
    /// The version of the verdict document.
    pub enum VerdictVersion {
        /// The first.
        V0_1 = "0.1",
    }
}

choice! {
    /// Whether the target keeps the rules.
    pub enum Outcome {
        /// No rule is broken.
        Pass = "PASS",
        /// At least one rule is broken.
        Fail = "FAIL",
    }
}

choice! {
    /// Which list a rule stands in; evaluated in this order.
    pub enum RuleType {
        /// A rule of boundaries.yml.
        Boundary = "boundary",
        /// A rule of invariants.yml.
        Invariant = "invariant",
    }
}

choice! {
    /// Which files were looked at.
    pub enum Mode {
        /// Every file of the target.
        Full = "full",
        /// The files that git tracks.
        Tracked = "tracked",
        /// The files that were added or changed since another commit.
        Diff = "diff",
        /// The files that are staged for the next commit.
        Staged = "staged",
    }
}

choice! {
    /// An encoding in which a file was searched beside its plain bytes.
    pub enum Encoding {
        /// UTF-16, small end first.
        Utf16Le = "utf-16le",
        /// UTF-16, big end first.
        Utf16Be = "utf-16be",
    }
}

choice! {
    /// Why something whose name a glob matches was not searched.
    pub enum SkipReason {
        /// It is a symbolic link; what it leads to is searched where it is.
        Symlink = "symlink",
        /// It is a named pipe.
        Fifo = "fifo",
        /// It is a socket.
        Socket = "socket",
        /// It is a device.
        Device = "device",
        /// It is another repository, of which git keeps only the commit.
        Submodule = "submodule",
        /// It is tracked but not in the work tree.
        Missing = "missing",
    }
}

record! {
    /// The bundle that was enforced.
    pub struct PolicySummary {
        /// The hash of what the bundle says.
        hash: PolicyHash,
        /// How many boundaries were enforced.
        boundaries: Count,
        /// How many invariants were enforced.
        invariants: Count,
        /// How many deprecated rules were read and ignored.
        deprecated_ignored: Count,
    }
}

record! {
    /// What was looked at.
    pub struct Target {
        /// Which files.
        mode: Mode,
        /// The commit that changes are counted from.
        base: Option<String>,
        /// The commit whose files were read.
        head: Option<String>,
    }
}

record! {
    /// How much was looked at.
    pub struct Stats {
        /// Regular files in folders that a glob can reach.
        files_considered: Count,
        /// Files that a glob matches.
        files_matched: Count,
        /// Bytes of the matched files.
        bytes_searched: Count,
        /// Rules that were enforced.
        rules: Count,
        /// Rule files of the bundle itself that were left out.
        rule_files_excluded: Count,
    }
}

record! {
    /// Something whose name a glob matches, but that cannot be searched.
    pub struct Skipped {
        /// Its path.
        file: String,
        /// Why.
        reason: SkipReason,
    }
}

record! {
    /// Where a pattern was found.
    pub struct Evidence {
        /// The file.
        file: String,
        /// The pattern.
        pattern: Pattern,
        /// The byte at which it starts, from 0.
        offset: Count,
        /// The line, from 1.
        line: Ordinal,
        /// The byte within the line, from 1.
        column: Ordinal,
        /// The line around it, or as much as fits.
        excerpt: Text<0, EXCERPT_CHARS_MAX>,
        /// How the file was read, if not as plain bytes.
        encoding: Option<Encoding>,
    }
}

record! {
    /// One rule broken by one file with one pattern.
    pub struct Violation {
        /// The rule.
        rule_id: RuleId,
        /// Its type.
        rule_type: RuleType,
        /// What the rule is about.
        title: Title,
        /// The file.
        file: String,
        /// What is wrong, in words.
        reason: String,
        /// Where.
        evidence: Evidence,
    }
}

record! {
    /// The verdict of a scan.
    pub struct Verdict {
        /// The version of this document.
        schema_version: VerdictVersion,
        /// Whether the target keeps the rules.
        verdict: Outcome,
        /// The bundle that was enforced.
        policy: PolicySummary,
        /// What was looked at.
        target: Target,
        /// How much was looked at.
        stats: Stats,
        /// What could not be searched.
        skipped: Vec<Skipped>,
        /// Every broken rule, in order.
        violations: Vec<Violation>,
    }
}
