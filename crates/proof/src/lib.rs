//! Proves theorems about policies for all contexts, and checks such proofs without believing the prover.
//!
//! A [`Theorem`] about a [`Subject`] becomes formulas that have a model exactly if the theorem is wrong. [`prove`] looks for
//! one: a model becomes a counterexample, which the evaluator must bear out; no model becomes a [`Certificate`] that
//! [`check`] accepts without a solver. [`explore`] goes through every state of the approval protocol instead.
//! Nothing here changes a decision.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod artifact;
mod certificate;
mod check;
mod claim;
mod code;
mod explore;
mod judge;
mod protocol;
mod prove;
mod subject;
mod theorem;
mod witness;

pub use crate::{
    artifact::{CERTIFICATE_BACKEND, EXPLORER_BACKEND},
    certificate::{Certificate, CertificateBody, CertificateSchema, ClaimDocument},
    check::{CheckReport, CheckedClaim, Export, check, export},
    claim::{ENCODER_VERSION, Scope},
    code::codes as proof_codes,
    explore::{Exploration, MODEL_VERSION, bounds, explore},
    prove::{ClaimSize, Failure, Outcome, Proof, prove},
    subject::{Documents, Subject},
    theorem::{Never, Obligation, ObligationSchema, Theorem, TheoremDocument},
    witness::{RequestDocument, Witness},
};
