//! Weighs intents against each other and plans one, as data.
//!
//! An intent says what somebody wants done: scope, goal, commands by registry id, risk, evidence. This crate checks
//! intents ([`Intent::load`]), finds every conflict in a set of them, says what becomes of the set, compares the
//! risks and asks a person where it cannot decide ([`evaluate`]). It executes nothing and touches nothing.
#![no_std]
extern crate alloc;

mod checksum;
mod code;
mod detect;
mod diff;
mod effect;
mod evaluate;
mod evidence;
mod explain;
mod graph;
mod load;
mod merge;
mod money;
mod name;
mod operation;
mod outcome;
mod overlaps;
mod path_index;
mod path_set;
mod pattern;
mod priority;
mod question;
mod reach;
mod redline;
mod registry;
mod resolve;
mod risk;
pub mod svg;
mod touch;
pub mod wire;

pub use crate::{
    checksum::DocumentKind,
    code::codes as intent_codes,
    detect::Limits,
    diff::{Difference, differences},
    effect::EffectSet,
    evaluate::{EvaluateOptions, Outcome, evaluate},
    evidence::{EVIDENCE_SCHEMES, EvidenceRef},
    explain::{Fate, explain_json, explain_markdown, explain_svg, explain_text, fates},
    graph::Graph,
    load::{
        FileIssue, Intent, IntentFile, IntentSet, read_answer_pack, read_evaluation, read_merge_plan,
        read_question_pack, validate_document,
    },
    money::Money,
    name::{
        AgentId, AnswerPackId, ArtifactName, CommandId, ConflictId, EvaluationId, IntentId, IntentSetId,
        MergePlanId, OpId, OptionId, QuestionId, QuestionPackId, Version, WorkflowId,
    },
    overlaps::overlaps,
    path_set::PathSet,
    reach::Reach,
    redline::{execution_forbidden, intent_red_lines, outcome_red_lines, plan_lineage},
    registry::{Registry, RegistryFile, RegistryFiles},
    risk::{compare_risks, risk_entry},
};
