//! Proofs about the policy in force: made by a child, checked here, kept beside the decisions, and no part of them (K4.2).

use std::path::Path;

use countersign_canon::{Json, Reader, Value, record};
use countersign_ledger::ProofArtifact;
use countersign_proof::check;
use countersign_store::{Command, KeptProof, Refusal};

use crate::{Caller, Node, ServiceError, prover};

record! {
    /// What the prover says.
    pub struct ProverReport {
        /// Every proof it made, or failed to make.
        proofs: Vec<ProverProof>,
    }
}

record! {
    /// One proof.
    pub struct ProverProof {
        /// The artifact.
        artifact: ProofArtifact,
        /// The certificate, if it is proved.
        certificate: Option<String>,
    }
}

impl Node {
    /// Proves the pilot obligations about the version in force with this program, unless that was done; all artifacts.
    ///
    /// # Errors
    ///
    /// Fails if no policy is in force, and if the program does not say what is proved. Nothing is kept then.
    pub fn prove_in_force(
        &self,
        caller: &Caller,
        program: &Path,
    ) -> Result<Vec<ProofArtifact>, ServiceError> {
        let version = self.store().version_in_force()?.ok_or(Refusal::PolicyNotLoaded)?;
        let known = self.store().proofs(version.version)?;
        if !known.is_empty() {
            return Ok(known);
        }
        let document = |object| Json::from(Value::Object(object));
        let documents = Json::object([
            ("policy", document(version.policy)),
            ("lattice", document(version.lattice)),
            ("allow", document(version.allow)),
        ]);
        let said = prover::run(program, &documents.to_canonical())
            .map_err(|error| ServiceError::defect(format!("the prover could not be run: {error}")))?;
        let report: ProverReport =
            Reader::read_document(&said, countersign_proof::proof_codes::PROOF_CERTIFICATE_INVALID)
                .map_err(|_| ServiceError::defect("the prover did not say what is proved".to_owned()))?;
        let proofs = report.proofs.into_iter().map(checked).collect::<Result<Vec<_>, _>>()?;
        self.call(caller, "/v1/policy/proofs", Command::KeepProofs(version.version, proofs))?;
        Ok(self.store().proofs(version.version)?)
    }
}

/// A proof whose certificate holds, whoever made it.
fn checked(proof: ProverProof) -> Result<KeptProof, ServiceError> {
    let ProverProof { artifact, certificate } = proof;
    if let Some(certificate) = &certificate {
        let report =
            check(certificate.as_bytes()).map_err(|issue| ServiceError::defect(issue.to_string()))?;
        if report.artifact != artifact {
            return Err(ServiceError::defect("the certificate is of another proof".to_owned()));
        }
    }
    Ok(KeptProof { artifact, certificate })
}
