//! Says what happened, in records that anyone can check and nobody can quietly change.
//!
//! The event envelope `urm-events@1`, the Merkle log it is kept in, signed checkpoints of that log and their
//! verification. It does no input or output and reads no clock: the store keeps what this crate describes, and a
//! stranger verifies it with this crate alone.
#![no_std]
extern crate alloc;

mod approval;
mod checkpoint;
mod code;
mod decision;
mod detail;
mod event;
mod execution;
mod key;
mod merkle;
mod name;
mod proof;
mod protocol;
mod session;
mod token;
mod verify;

pub use crate::{
    approval::{
        Approval, ApprovalRequest, ApprovalSignature, ApprovalStatement, ApproverKey, CLOCK_SKEW_S_MAX,
        Grant, GrantRefusal, GrantTtl, Reason, StatementSchema,
    },
    checkpoint::{Checkpoint, SignedCheckpoint},
    code::codes as ledger_codes,
    decision::{
        Activation, Decided, DecisionRecord, LoadedVersion, PendingApproval, PermitDocument, PolicyVersion,
        VersionNumber,
    },
    detail::{EvaluationEnded, EvaluationStarted, ExecutionTold, PendingCode},
    event::{Event, EventContext, EventKind, EventSchema, NewEvent, Seq, Source, StreamId, detail},
    execution::Execution,
    key::{KeyId, KeyName, NoteKey, PublicKey, SecretKey, Signature},
    merkle::{Frontier, LeafHash, RootHash, TreeHead, extends, includes, prove_consistency, prove_inclusion},
    name::{DecisionId, PermitId, Principal},
    proof::{ProofArtifact, ProofId, ProofInput, ProofStatus, TheoremId},
    protocol::{
        ApprovalStep, DOUBT_AFTER_S, ExecutionState, ExecutionStep, Executor, GRANT_TTL_S_DEFAULT,
        GRANT_TTL_S_MAX, OutcomeStatus, PENDING_TTL_S, PERMIT_TTL_S, Quorum, Requirement, StepRefusal, begin,
    },
    session::{Session, SessionKind, SessionState},
    token::{Access, Token},
    verify::{LogCheck, LogFault, LogLevel, LogPlace, LogReport, StoredCheckpoint, StoredEvent},
};
