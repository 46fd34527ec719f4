//! What must hold for every set: generated sets, weighed, permuted, renamed and answered.

mod circles;
mod generated;
mod ladder;
mod merged;
mod properties;
