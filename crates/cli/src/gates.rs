//! Gates: one file each, run over the shipped examples; every one of them can fail.

pub(crate) mod evaluator;

/// What a gate found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checked {
    /// Its letter.
    pub(crate) letter: &'static str,
    /// What it checks.
    pub(crate) what: &'static str,
    /// What is wrong; nothing if it passes.
    pub(crate) complaints: Vec<String>,
}
