//! Proofs: kept beside a policy version, told of in an event, and never a reason for a decision (K4.2).

use countersign_canon::{Json, Sha256, Text, Timestamp, Wire as _};
use countersign_ledger::{
    Access, EventKind, NewEvent, PolicyVersion, ProofArtifact, ProofStatus, StreamId, VersionNumber, detail,
};
use countersign_policy::{EvidenceKind, EvidenceRef};

use super::not_found;
use crate::{
    StoreError,
    request::{CallError, KeptProof, Origin, Refusal, Reply},
    shelf::Kept,
    working::Working,
};

impl Working<'_> {
    /// Keeps what was proved about a policy version. Whether a certificate holds is for the caller to have checked.
    pub(super) fn keep_proofs(
        &mut self,
        origin: &Origin,
        version: VersionNumber,
        proofs: &[KeptProof],
        now: Timestamp,
    ) -> Result<Reply, CallError> {
        origin.require(&[Access::Admin])?;
        let stored = self.version(version.get())?;
        let stored = stored.ok_or_else(|| not_found("policy version", &version.get().to_string()))?;
        for proof in proofs {
            check(proof, &stored)?;
        }
        for KeptProof { artifact, certificate } in proofs {
            let id = artifact.proof_id.as_str();
            let rows = self.sql.query(
                "SELECT 1 FROM proof_run WHERE policy_version = $1 AND proof_id = $2",
                &[version.get().into(), id.into()],
            )?;
            if !rows.is_empty() {
                continue;
            }
            self.keep(Kept::Proof, id.to_owned(), artifact.to_canonical());
            if let Some(certificate) = certificate {
                self.keep(Kept::Certificate, artifact.proof_hash.to_string(), certificate.clone());
            }
            let row = vec![version.get().into(), id.into(), artifact.status.as_str().into()];
            self.sql.insert("proof_run", &["policy_version", "proof_id", "status"], vec![row])?;
            self.emit(&told(origin, version, &stored, artifact, now))?;
        }
        self.batch.proofs = None;
        Ok(Reply::Done)
    }

    /// The references that every decision under this version carries: to what is proved, and to nothing else.
    pub(super) fn proof_refs(&mut self, version: VersionNumber) -> Result<Vec<EvidenceRef>, StoreError> {
        if let Some(proofs) = &self.batch.proofs {
            return Ok(proofs.clone());
        }
        let query =
            "SELECT proof_id FROM proof_run WHERE policy_version = $1 AND status = $2 ORDER BY proof_id";
        let cells = [version.get().into(), ProofStatus::Proved.as_str().into()];
        let mut proofs = Vec::new();
        for row in self.sql.query(query, &cells)? {
            let reference = Text::new(format!("proof:{}", row.text(0)?));
            let reference = reference.ok_or_else(|| StoreError::corrupt("a proof id is too long"))?;
            proofs.push(EvidenceRef { kind: EvidenceKind::Proof, reference, note: None });
        }
        self.batch.proofs = Some(proofs.clone());
        Ok(proofs)
    }
}

/// Refuses an artifact that is not of this version, or not with this certificate.
fn check(proof: &KeptProof, version: &PolicyVersion) -> Result<(), Refusal> {
    let KeptProof { artifact, certificate } = proof;
    let is_about = |name: &str, hash: &Sha256| {
        artifact.inputs.iter().any(|input| input.object_id.as_str() == name && input.formula_hash == *hash)
    };
    let is_of_version = is_about("policy", version.policy_hash.digest())
        && is_about("lattice", version.lattice_hash.digest())
        && is_about("allow", version.allow_hash.digest());
    let is_whole = match (artifact.status, certificate) {
        (ProofStatus::Proved, Some(text)) => artifact.proof_hash == Sha256::of(text.as_bytes()),
        (ProofStatus::Failed, None) => true,
        (ProofStatus::Proved, None) | (ProofStatus::Failed, Some(_)) => false,
    };
    if artifact.is_itself() && is_of_version && is_whole {
        return Ok(());
    }
    Err(Refusal::Invalid {
        message: format!("{} is not a proof about this policy version", artifact.proof_id),
    })
}

fn told(
    origin: &Origin,
    version: VersionNumber,
    stored: &PolicyVersion,
    artifact: &ProofArtifact,
    now: Timestamp,
) -> NewEvent {
    let kind = match artifact.status {
        ProofStatus::Proved => EventKind::ProofRunPass,
        ProofStatus::Failed => EventKind::ProofRunFail,
    };
    let reason = artifact.details.get("reason").cloned().unwrap_or_else(|| Json::from("proved"));
    let members = [
        ("policy_version", version.write()),
        ("policy_hash", stored.policy_hash.write()),
        ("proof_id", artifact.proof_id.write()),
        ("theorem_id", artifact.theorem_id.write()),
        ("status", artifact.status.write()),
        ("proof_hash", artifact.proof_hash.write()),
        ("reason", reason),
    ];
    NewEvent { stream_id: StreamId::policy(), ..origin.event(kind, None, now, detail(members)) }
}
