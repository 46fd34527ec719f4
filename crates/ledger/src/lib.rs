//! Says what happened, in records that anyone can check and nobody can quietly change.
//!
//! The event envelope `urm-events@1`, the Merkle log it is kept in, signed checkpoints of that log and their
//! verification. It does no input or output and reads no clock: the store keeps what this crate describes, and a
//! stranger verifies it with this crate alone.
#![no_std]
extern crate alloc;

mod checkpoint;
mod code;
mod event;
mod key;
mod merkle;
mod name;
mod verify;

pub use crate::{
    checkpoint::{Checkpoint, SignedCheckpoint},
    code::codes as ledger_codes,
    event::{Event, EventContext, EventKind, EventSchema, NewEvent, Seq, Source, StreamId},
    key::{KeyId, KeyName, NoteKey, PublicKey, SecretKey, Signature},
    merkle::{Frontier, LeafHash, RootHash, TreeHead, extends, includes, prove_consistency, prove_inclusion},
    name::{RoleName, RunId, SessionId},
    verify::{LogCheck, LogFault, LogLevel, LogPlace, LogReport, StoredCheckpoint, StoredEvent},
};
