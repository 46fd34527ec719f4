//! Checks that a formula has no model, given a proof in the LRAT format; it finds nothing out by itself.
//!
//! It depends on nothing, shares no code with the solver whose proofs it checks, and is small enough to be read in one
//! sitting: that is the whole point of it.
//!
//! # Examples
//!
//! ```
//! use countersign_proofcheck::check;
//!
//! // (a or b) and (a or not b) and (not a) has no model: first a is derived, then the contradiction.
//! let formula = [vec![1, 2], vec![1, -2], vec![-1]];
//! assert!(check(&formula, "4 2 0 3 1 0\n5 0 3 4 2 0\n").is_ok());
//! assert!(check(&formula, "4 2 0 1 3 0\n5 0 3 4 0\n").is_err());
//! ```
#![no_std]
extern crate alloc;

mod lrat;

pub use crate::lrat::{Checked, ProofFault, check};
