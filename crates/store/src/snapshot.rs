//! What an export needs at one instant: the end of the log, and everything that may be another a moment later.

use std::collections::BTreeSet;

use countersign_ledger::{Approval, ApproverKey, NoteKey, PolicyVersion, ProofArtifact};

use crate::{StoreError, log, read, sql::Sql};

/// One state of the store. Events and decisions only ever grow, so that those before `size` can be read later, page by page,
/// without holding a transaction open for as long as somebody takes to read them.
#[derive(Debug)]
pub struct Snapshot {
    /// The number of the newest checkpoint; 0 if there is none.
    pub checkpoints: u64,
    /// How many events it covers.
    pub size: u64,
    /// The public keys of everybody who signs the log.
    pub log_keys: Vec<NoteKey>,
    /// Every policy version.
    pub policy_versions: Vec<PolicyVersion>,
    /// Every registered key of an approver.
    pub approver_keys: Vec<ApproverKey>,
    /// Every approval.
    pub approvals: Vec<Approval>,
    /// What was proved about the policy versions, or not; each proof once.
    pub proofs: Vec<ProofArtifact>,
}

/// Takes it, inside a transaction that sees one state of the store.
pub(crate) fn take(sql: &mut dyn Sql) -> Result<Snapshot, StoreError> {
    let rows = sql.query("SELECT number, tree_size FROM checkpoint ORDER BY number DESC LIMIT 1", &[])?;
    let (checkpoints, size) = match rows.first() {
        Some(row) => (row.count(0)?, row.count(1)?),
        None => (0, 0),
    };
    let policy_versions: Vec<PolicyVersion> = read::all(sql, "policy_version", "version")?;
    let (mut proofs, mut seen) = (Vec::new(), BTreeSet::new());
    for version in &policy_versions {
        let of_version = read::proofs(sql, version.version.get())?;
        proofs.extend(of_version.into_iter().filter(|proof| seen.insert(proof.proof_id.to_string())));
    }
    Ok(Snapshot {
        checkpoints,
        size,
        log_keys: log::load_keys(sql)?,
        policy_versions,
        approver_keys: read::all(sql, "approver_key", "key_id")?,
        approvals: read::approvals(sql, None)?,
        proofs,
    })
}
