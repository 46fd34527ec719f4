//! Decides what an agent may do: the instruction kernel of seed 004.
//!
//! Policies, contexts and decisions are data: bytes in, checked values and decisions out. The crate does no input
//! or output and reads no clock; the time of an evaluation is an argument.
#![no_std]
extern crate alloc;

mod action;

pub use crate::action::{ActionHash, ActionKind, action_hash};
