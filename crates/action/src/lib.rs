//! Turns what an agent is about to do into one action: a kind and a payload.
//!
//! A host's tool call comes in as JSON. The table of actions says what each tool does; command lines are parsed with a
//! real shell grammar and every simple command in them is judged by the table. What cannot be parsed or is not in the
//! table is `shell.unknown`. The crate does no input or output: paths are compared as text, never looked up.
#![no_std]
extern crate alloc;

pub mod codes;
mod shell;

pub use crate::shell::{
    Assignment, Command, Compound, Condition, Item, LINE_BYTES_MAX, List, NESTING_MAX, Operator, Part,
    Pipeline, Redirection, Simple, Target, Tree, Word, parse_line,
};
