//! Says what happened, in records that anyone can check and nobody can quietly change.
//!
//! The event envelope `urm-events@1` and the names it uses. It does no input or output and reads no clock: the
//! store keeps what this crate describes, and a stranger verifies it with this crate alone.
#![no_std]
extern crate alloc;

mod code;
mod event;
mod name;

pub use crate::{
    code::codes as ledger_codes,
    event::{Event, EventContext, EventKind, EventSchema, NewEvent, Seq, Source, StreamId},
    name::{RoleName, RunId, SessionId},
};
