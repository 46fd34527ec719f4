//! Every code that a scan can raise.

countersign_canon::declare_codes! {
    /// The rule bundle is refused; the cause says why.
    SCAN_RULES_INVALID
    /// There is no rule bundle, or it has neither boundaries.yml nor invariants.yml.
    SCAN_RULES_MISSING
    /// The bundle enforces no rule at all.
    SCAN_RULES_EMPTY
    /// The bundle has more rules than the limit.
    SCAN_RULES_TOO_MANY
    /// Two rules of the bundle share one id.
    SCAN_RULE_ID_REPEATED
    /// A rule of deprecated.yml names both kinds of patterns, or none.
    SCAN_RULE_KIND
    /// A pattern is empty and would be found in every file.
    SCAN_PATTERN_EMPTY
    /// A glob is malformed.
    SCAN_GLOB_SYNTAX
    /// A glob can never match a path of the target.
    SCAN_GLOB_NEVER_MATCHES
    /// The braces of a glob stand for more alternatives than the limit.
    SCAN_GLOB_TOO_MANY
    /// The target is not a folder that can be scanned.
    SCAN_TARGET
    /// A file or folder that must be searched cannot be read.
    SCAN_UNREADABLE
    /// Git is not there, is not a repository, or refuses.
    SCAN_GIT
    /// A git reference cannot be used.
    SCAN_GIT_REF
    /// The history between the reference and HEAD is not complete here.
    SCAN_GIT_HISTORY
    /// No rule has this id.
    SCAN_UNKNOWN_RULE
    /// The report cannot be written.
    SCAN_OUTPUT
}
