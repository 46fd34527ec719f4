//! Says what an intent would do, without doing it.
//!
//! One valid intent goes in ([`Source`]); the order of work, the files, the commits and what a reviewer starts from come
//! out ([`plan`]), frozen by checksums. Everything is derived from the intent: nothing is executed, written, invented or
//! guessed (DE1 to DE6). [`validate`] makes a result again from its intent and reports every difference.
#![no_std]
extern crate alloc;

mod code;
mod command_set;
mod commit;
mod explain;
mod freeze;
mod graph;
mod merge_order;
mod name;
mod named;
mod outcome;
mod patch;
mod plan;
mod redline;
mod review;
mod source;
mod validate;
pub mod wire;
mod work;

pub use crate::{
    code::codes as dry_run_codes,
    explain::{explain_json, explain_markdown, explain_svg, explain_text},
    freeze::{freeze_checksum, seal_result, without_times},
    name::{CommitId, DiffPlaceholder, EdgeId, NodeId, ResultId},
    plan::{OverBudget, PlanOptions, plan},
    redline::{intent_red_lines_of, result_red_lines},
    source::Source,
    validate::{read_result, validate},
};
