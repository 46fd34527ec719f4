//! What the intent commands share: registries, sets with their files, reports.

pub(crate) mod registry;
pub(crate) mod report;
pub(crate) mod set;
