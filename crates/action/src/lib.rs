//! Turns what an agent is about to do into one action: a kind and a payload.
//!
//! A host's tool call comes in as JSON. The table of actions says what each tool does; command lines are parsed with a
//! real shell grammar and every simple command in them is judged by the table. What cannot be parsed or is not in the
//! table is `shell.unknown`. The crate does no input or output: paths are compared as text, never looked up.
#![no_std]
extern crate alloc;

mod classify;
pub mod codes;
mod denial;
mod export;
mod host;
mod kind;
mod patch;
mod path;
mod shell;
mod table;

pub use crate::shell::{
    Assignment, Command, Compound, Condition, Item, LINE_BYTES_MAX, List, NESTING_MAX, Operator, Part,
    Pipeline, Redirection, Simple, Target, Tree, Word, parse_line,
};
pub use crate::{
    classify::{Classification, Finding, classify_line},
    denial::{Denials, DeniedCommand, DeniedOption, DeniedPath, Gap, PathUse, Stands, denials},
    export::{Export, ExportTarget, drift, export},
    host::{Action, Evidence, ToolCall, normalise, shell_action, started_line},
    kind::Kind,
    patch::{Change, Hunk, PATCH_FILES_MAX, Patch, PatchedFile},
    path::{AbsolutePath, Place},
    table::{
        Act, CommandRule, Evaluates, Field, Host, Label, Labels, OptionRule, Order, OtherOptions, PathRule,
        PrefixRule, Role, Spelling, Table, TableDocument, TableHash, TableSchema, TakesValue, Tool,
    },
};
