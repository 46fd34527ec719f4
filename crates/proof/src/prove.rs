//! The prover: looks for a counterexample, and proves that there is none.

use alloc::{
    boxed::Box,
    format,
    string::{String, ToString as _},
    vec::Vec,
};
use core::convert::Infallible;

use countersign_canon::{Issue, Sha256};
use countersign_ledger::ProofArtifact;
use countersign_policy::{Cdcl, Circuit, Session, Solver as _};

use crate::{
    Certificate, CertificateBody, ClaimDocument, ENCODER_VERSION, Scope, Subject, Theorem, Witness, artifact,
    claim::Claim,
    code::codes,
    explore::{Count, explore},
    judge::{Shown, judge},
};

/// How a theorem came out.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It holds in all contexts.
    Proved(Box<Certificate>),
    /// It does not, or says nothing.
    Failed(Failure),
}

/// Why a theorem is not proved.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// It is wrong here, as the evaluator has confirmed. No smaller witness exists.
    Refuted {
        /// In which part of the way to a decision.
        scope: Scope,
        /// Where.
        counterexample: Box<Witness>,
    },
    /// It holds only because there is nothing that it is about.
    Vacuous {
        /// In which part of the way to a decision.
        scope: Scope,
    },
    /// The exploration found a broken invariant, or did not get where it must.
    Explored(String),
}

/// How large a claim was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaimSize {
    /// About which part of the way to a decision.
    pub scope: Scope,
    /// Wires of the formula.
    pub wires: u32,
    /// Clauses of the formula.
    pub clauses: usize,
    /// Lines of proof.
    pub steps: usize,
}

/// A finished attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    /// The artifact, in the seed's shape.
    pub artifact: ProofArtifact,
    /// How it came out.
    pub outcome: Outcome,
    /// How large each claim was.
    pub sizes: Vec<ClaimSize>,
}

/// Proves the theorem about the subject for all contexts, or finds where it is wrong.
///
/// # Errors
///
/// Fails if the theorem does not fit the subject, or if formula and evaluator disagree, which is a defect of ours.
pub fn prove(theorem: &Theorem, subject: &Subject) -> Result<Proof, Issue> {
    let mut sizes = Vec::new();
    let outcome = match theorem {
        Theorem::SingleUse => prove_by_exploring(theorem, subject)?,
        Theorem::NoWrite
        | Theorem::NeverFires(_)
        | Theorem::Shadowed(_)
        | Theorem::OnlyTightens
        | Theorem::Equivalent
        | Theorem::Custom(_) => prove_claims(theorem, subject, &mut sizes)?,
    };
    let artifact = artifact::of(theorem, subject, &outcome)?;
    Ok(Proof { artifact, outcome, sizes })
}

fn prove_claims(theorem: &Theorem, subject: &Subject, sizes: &mut Vec<ClaimSize>) -> Result<Outcome, Issue> {
    let (mut claims, mut proofs) = (Vec::new(), Vec::new());
    for claim in Claim::all(theorem, subject)? {
        match prove_claim(theorem, subject, claim)? {
            Ok((document, proof, size)) => {
                claims.push(document);
                proofs.push(proof);
                sizes.push(size);
            }
            Err(failure) => return Ok(Outcome::Failed(failure)),
        }
    }
    let body = CertificateBody {
        theorem: theorem.document()?,
        documents: subject.documents().clone(),
        encoder_version: ENCODER_VERSION.to_string(),
        claims,
        exploration: None,
    };
    Ok(Outcome::Proved(Box::new(Certificate { body, proofs })))
}

fn prove_by_exploring(theorem: &Theorem, subject: &Subject) -> Result<Outcome, Issue> {
    let exploration = explore();
    if let Some(broken) = &exploration.broken {
        return Ok(Outcome::Failed(Failure::Explored(broken.clone())));
    }
    if !exploration.unreached.is_empty() {
        let message = format!("never reached: {}", exploration.unreached.join(", "));
        return Ok(Outcome::Failed(Failure::Explored(message)));
    }
    let body = CertificateBody {
        theorem: theorem.document()?,
        documents: subject.documents().clone(),
        encoder_version: ENCODER_VERSION.to_string(),
        claims: Vec::new(),
        exploration: Some(exploration),
    };
    Ok(Outcome::Proved(Box::new(Certificate { body, proofs: Vec::new() })))
}

type Claimed = Result<(ClaimDocument, String, ClaimSize), Failure>;

fn prove_claim(theorem: &Theorem, subject: &Subject, claim: Claim) -> Result<Claimed, Issue> {
    let scope = claim.scope;
    let seen = |witness: &Witness| judge(theorem, scope, subject, witness);
    let Some(proof) = refutation(&claim) else {
        let counterexample = smallest(&claim, claim.violation).ok_or_else(disagreement)?;
        let is_broken = matches!(seen(&counterexample), Some(Shown { is_broken: true, is_twin: _ }));
        let refuted = Failure::Refuted { scope, counterexample: counterexample.into() };
        return if is_broken { Ok(Err(refuted)) } else { Err(disagreement()) };
    };
    let Some(witness) = smallest(&claim, claim.twin) else { return Ok(Err(Failure::Vacuous { scope })) };
    if !matches!(seen(&witness), Some(Shown { is_broken: false, is_twin: true })) {
        return Err(disagreement());
    }
    let (wires, clauses) = (claim.circuit.wires(), claim.clauses().len());
    let steps = proof.lines().count();
    let counted = |number: usize| Count::clamped(i64::try_from(number).unwrap_or(i64::MAX));
    let document = ClaimDocument {
        scope,
        formula_hash: Sha256::of(claim.to_dimacs().as_bytes()),
        wires: Count::clamped(i64::from(wires)),
        clauses: counted(clauses),
        steps: counted(steps),
        witness,
    };
    Ok(Ok((document, proof, ClaimSize { scope, wires, clauses, steps })))
}

/// Why the claim has no model; nothing if it has one.
fn refutation(claim: &Claim) -> Option<String> {
    let mut solver = Cdcl::proving();
    let clauses = claim.circuit.clauses().iter().map(alloc::vec::Vec::as_slice);
    // What is to be refuted comes last, so that the circuit's clauses keep their numbers.
    for clause in clauses.chain([[claim.violation].as_slice()]) {
        solver.add(clause).unwrap_or_else(|never: Infallible| match never {});
    }
    let _model = solver.solve(&[], claim.circuit.wires()).unwrap_or_else(|never: Infallible| match never {});
    solver.refutation()
}

/// The smallest witness in which this holds.
fn smallest(claim: &Claim, literal: countersign_policy::Lit) -> Option<Witness> {
    let mut solver = Cdcl::default();
    let circuit: Circuit = claim.circuit.clone();
    let mut session = Session::new(circuit, &mut solver);
    let model = session.smallest(&[literal]).unwrap_or_else(|never: Infallible| match never {});
    model.and_then(|model| claim.witness(&model))
}

fn disagreement() -> Issue {
    Issue::new(codes::PROOF_DISAGREEMENT, "the formula and the evaluator disagree")
        .with_hint("this is a defect of ours; please report the policy")
}
