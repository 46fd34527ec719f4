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
    /// The text is not YAML.
    SCAN_YAML_SYNTAX
    /// The bytes are not UTF-8.
    SCAN_YAML_BAD_UTF8
    /// A rule file is larger than the limit.
    SCAN_YAML_TOO_LARGE
    /// Lists and mappings are nested deeper than the limit.
    SCAN_YAML_TOO_DEEP
    /// A mapping names one key twice.
    SCAN_YAML_DUPLICATE_KEY
    /// There are more anchors or aliases than the limit, or they multiply the text.
    SCAN_YAML_ALIASES
    /// A value carries a tag.
    SCAN_YAML_TAG
    /// A key is not plain text.
    SCAN_YAML_KEY
    /// A value without quotes is a number or a truth value, not text.
    SCAN_YAML_NOT_TEXT
    /// The file holds more than one document.
    SCAN_YAML_DOCUMENTS
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
