//! The checker: takes a certificate and believes nothing in it but the documents it is about.
//!
//! It makes the formulas again from those documents, has each proof checked by a crate that shares nothing with the
//! solver, and asks the evaluator about each witness. No solver runs here.

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::{Issue, Sha256};
use countersign_ledger::ProofArtifact;

use crate::{
    Certificate, CertificateBody, ClaimDocument, ENCODER_VERSION, Exploration, Outcome, Scope, Subject,
    Theorem, artifact,
    claim::Claim,
    code::codes,
    explore::confirms,
    judge::{Shown, judge},
};

/// What a certificate was found to prove.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckReport {
    /// The theorem.
    pub theorem: Theorem,
    /// The artifact that the certificate belongs to.
    pub artifact: ProofArtifact,
    /// Each claim.
    pub claims: Vec<CheckedClaim>,
    /// What was explored again, if anything was.
    pub exploration: Option<Exploration>,
}

/// One claim that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedClaim {
    /// About which part of the way to a decision.
    pub scope: Scope,
    /// How many clauses its formula has.
    pub clauses: usize,
    /// How many steps were checked.
    pub steps: usize,
}

/// Checks a certificate.
///
/// # Errors
///
/// Fails if it is damaged or does not prove what it says, under `PROOF_CERTIFICATE_INVALID`.
pub fn check(bytes: &[u8]) -> Result<CheckReport, Issue> {
    let certificate = Certificate::parse(bytes)?;
    let CertificateBody { theorem, documents, encoder_version, claims: documents_of_claims, exploration } =
        certificate.body.clone();
    if encoder_version != ENCODER_VERSION {
        let message = format!("it is for the encoder {encoder_version}, and this is {ENCODER_VERSION}");
        return Err(refused(&message));
    }
    let theorem = Theorem::of(theorem).ok_or_else(|| refused("it names no theorem"))?;
    let subject = Subject::load(documents)
        .map_err(|issues| refused(&issues.first().map_or_else(String::new, |issue| issue.to_string())))?;
    let claims =
        Claim::all(&theorem, &subject).map_err(|issue| issue.under(codes::PROOF_CERTIFICATE_INVALID))?;
    if claims.len() != documents_of_claims.len() || exploration.is_some() != (theorem == Theorem::SingleUse) {
        return Err(refused("it does not prove every claim of the theorem"));
    }
    let mut checked = Vec::new();
    for ((claim, document), proof) in claims.iter().zip(&documents_of_claims).zip(&certificate.proofs) {
        checked.push(check_claim(&theorem, &subject, claim, document, proof)?);
    }
    if exploration.as_ref().is_some_and(|exploration| !confirms(exploration)) {
        return Err(refused("going through every state again finds something else"));
    }
    let artifact = artifact::of(&theorem, &subject, &Outcome::Proved(Box::new(certificate)))?;
    Ok(CheckReport { theorem, artifact, claims: checked, exploration })
}

/// A claim in the formats that other people's checkers read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// About which part of the way to a decision.
    pub scope: Scope,
    /// The formula, in the DIMACS format.
    pub dimacs: String,
    /// Its proof, in the LRAT format.
    pub lrat: String,
}

/// The claims of a certificate for other checkers; the formulas are made from its documents, not taken from it.
///
/// # Errors
///
/// Fails if it is damaged, under `PROOF_CERTIFICATE_INVALID`.
pub fn export(bytes: &[u8]) -> Result<Vec<Export>, Issue> {
    let certificate = Certificate::parse(bytes)?;
    let theorem = Theorem::of(certificate.body.theorem).ok_or_else(|| refused("it names no theorem"))?;
    let subject =
        Subject::load(certificate.body.documents).map_err(|_| refused("its documents do not load"))?;
    let claims =
        Claim::all(&theorem, &subject).map_err(|issue| issue.under(codes::PROOF_CERTIFICATE_INVALID))?;
    let exports = claims.iter().zip(certificate.proofs);
    Ok(exports.map(|(claim, lrat)| Export { scope: claim.scope, dimacs: claim.to_dimacs(), lrat }).collect())
}

fn check_claim(
    theorem: &Theorem,
    subject: &Subject,
    claim: &Claim,
    document: &ClaimDocument,
    proof: &str,
) -> Result<CheckedClaim, Issue> {
    let ClaimDocument { scope, formula_hash, wires, clauses, steps: _, witness } = document;
    let formula = claim.clauses();
    let is_same = *scope == claim.scope
        && *formula_hash == Sha256::of(claim.to_dimacs().as_bytes())
        && wires.get() == i64::from(claim.circuit.wires())
        && usize::try_from(clauses.get()) == Ok(formula.len());
    if !is_same {
        return Err(refused("its formula is not the one that the documents give"));
    }
    let held = countersign_proofcheck::check(&formula, proof).map_err(|fault| refused(&fault.to_string()))?;
    match judge(theorem, *scope, subject, witness) {
        Some(Shown { is_broken: false, is_twin: true }) => {
            Ok(CheckedClaim { scope: *scope, clauses: formula.len(), steps: held.steps })
        }
        Some(Shown { is_broken: _, is_twin: _ }) | None => {
            Err(refused("its witness does not show that it says something"))
        }
    }
}

fn refused(what: &str) -> Issue {
    Issue::new(codes::PROOF_CERTIFICATE_INVALID, format!("the certificate proves nothing: {what}"))
}
