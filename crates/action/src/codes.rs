//! The codes of this crate: why a command line, a tool call or a table was refused.

countersign_canon::declare_codes! {
    /// The command line is not in the grammar of the shell.
    SHELL_SYNTAX
    /// The command line ends before a construct does.
    SHELL_UNEXPECTED_END
    /// The command line uses a construct that is not judged.
    SHELL_UNSUPPORTED
    /// The constructs of a command line are nested deeper than 48.
    SHELL_TOO_DEEP
    /// The command line is larger than 1 MiB.
    SHELL_TOO_LARGE
    /// The table of actions is not valid.
    ACTION_TABLE_INVALID
    /// A name stands in the table of actions twice.
    ACTION_TABLE_REPEATED
    /// The tool call is not one that the host sends.
    ACTION_CALL_INVALID
    /// A path given to the normaliser is not absolute.
    ACTION_PATH_RELATIVE
    /// The patch is not in the format of apply_patch.
    PATCH_SYNTAX
}
