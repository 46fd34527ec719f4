//! What the dry-run commands share: where a plan may be written, and what it is made from.

pub(crate) mod git_index;
pub(crate) mod inputs;
pub(crate) mod out;
