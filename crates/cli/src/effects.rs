//! Everything that touches the world, one file for each kind of effect. No decisions are made here.

pub(crate) mod child;
pub(crate) mod clock;
pub(crate) mod deadline;
pub(crate) mod environment;
pub(crate) mod files;
pub(crate) mod folder;
pub(crate) mod git;
pub(crate) mod isolation;
pub(crate) mod loopback;
pub(crate) mod relay;
pub(crate) mod terminal;
pub(crate) mod tree;
