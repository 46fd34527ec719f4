//! The whole log as lines that somebody without the store can check: one JSON object a line.

mod check;

pub use check::{BundleCheck, BundleFault, BundleReport};

use std::collections::BTreeSet;

use countersign_canon::{Json, Wire as _, Within, choice, record};
use countersign_ledger::{Approval, ApproverKey, DecisionRecord, Event, PolicyVersion, ProofArtifact};
use countersign_policy::{ProbeFacts, ProbeHash};

use crate::{Node, ServiceError};

/// LIMIT: how many rows are in memory at once.
const PAGE_ROWS: u32 = 1000;

/// A place or a size, in the numbers that JSON can hold.
type Count = Within<0, 9_007_199_254_740_991>;

choice! {
    /// The version of the lines.
    pub enum BundleSchema {
        /// The only one so far.
        V1 = "countersign.bundle@1",
    }
}

record! {
    /// The first line: which version, and whose signatures count.
    pub struct BundleHeader {
        /// The version of the lines.
        schema: BundleSchema,
        /// The public keys of everybody who signs the log.
        log_keys: Vec<String>,
    }
}

record! {
    /// A checkpoint at its place.
    pub struct BundledCheckpoint {
        /// Its number.
        number: Count,
        /// How many events it covers.
        tree_size: Count,
        /// The signed note.
        note: String,
    }
}

record! {
    /// A decision with the place of the event that carries its hash.
    pub struct BundledDecision {
        /// The place in the log.
        log_index: Count,
        /// The decision with everything it was made from.
        record: DecisionRecord,
    }
}

record! {
    /// What was proved about a policy version, or not.
    pub struct BundledProof {
        /// The artifact.
        artifact: ProofArtifact,
        /// The certificate, if it is proved.
        certificate: Option<String>,
    }
}

record! {
    /// One line: exactly one of its fields is there.
    pub struct BundleLine {
        /// The first line.
        header: Option<BundleHeader>,
        /// A policy version.
        policy_version: Option<PolicyVersion>,
        /// What a probe found.
        probe: Option<ProbeFacts>,
        /// A registered key.
        approver_key: Option<ApproverKey>,
        /// An event, in the order of the log.
        event: Option<Event>,
        /// A checkpoint, after the events that it covers.
        checkpoint: Option<BundledCheckpoint>,
        /// A decision.
        decision: Option<BundledDecision>,
        /// An approval as it is now.
        approval: Option<Approval>,
        /// A proof.
        proof: Option<BundledProof>,
    }
}

impl Node {
    /// Gives the whole log, with everything that its decisions were made from, line by line.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read, or the line cannot be put.
    pub fn export<E: From<ServiceError>>(&self, put: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        let store = self.store();
        let keys = store.log_keys().map_err(ServiceError::from)?;
        let log_keys = keys.iter().map(ToString::to_string).collect();
        put(&line("header", BundleHeader { schema: BundleSchema::V1, log_keys }.write()))?;
        for version in store.policy_versions().map_err(ServiceError::from)? {
            put(&line("policy_version", version.write()))?;
        }
        for key in store.approver_keys().map_err(ServiceError::from)? {
            put(&line("approver_key", key.write()))?;
        }
        self.export_log(put)?;
        self.export_decisions(put)?;
        for approval in store.approvals(None).map_err(ServiceError::from)? {
            put(&line("approval", approval.write()))?;
        }
        self.export_proofs(put)
    }

    /// What was proved about each policy version, or not; each proof once.
    fn export_proofs<E: From<ServiceError>>(
        &self,
        put: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for version in self.store().policy_versions().map_err(ServiceError::from)? {
            for artifact in self.store().proofs(version.version).map_err(ServiceError::from)? {
                if seen.insert(artifact.proof_id.to_string()) {
                    let certificate = self.store().certificate(&artifact.proof_hash);
                    let certificate = certificate.map_err(ServiceError::from)?;
                    put(&line("proof", BundledProof { artifact, certificate }.write()))?;
                }
            }
        }
        Ok(())
    }

    /// Events, each checkpoint after those it covers.
    fn export_log<E: From<ServiceError>>(&self, put: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        let (mut next, mut number) = (0_u64, 1_u64);
        while let Some(note) = self.store().numbered_checkpoint(number).map_err(ServiceError::from)? {
            let size = note.claim().map_err(|issue| ServiceError::defect(issue.to_string()))?.head.size;
            while next < size {
                let limit = u32::try_from(size.saturating_sub(next)).unwrap_or(PAGE_ROWS).min(PAGE_ROWS);
                let page = self.store().log_events(next, limit).map_err(ServiceError::from)?;
                if page.is_empty() {
                    return Err(ServiceError::defect(format!("the log ends at {next}, not at {size}")).into());
                }
                for logged in page {
                    put(&line("event", logged.event.write()))?;
                    next = next.saturating_add(1);
                }
            }
            let note = note.as_str().to_owned();
            let checkpoint = BundledCheckpoint { number: count(number)?, tree_size: count(size)?, note };
            put(&line("checkpoint", checkpoint.write()))?;
            number = number.saturating_add(1);
        }
        Ok(())
    }

    /// Decisions, each probe before the first decision that was made with it.
    fn export_decisions<E: From<ServiceError>>(
        &self,
        put: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut probes: BTreeSet<String> = BTreeSet::new();
        let mut next = 0_u64;
        loop {
            let page = self.store().decisions(next, PAGE_ROWS).map_err(ServiceError::from)?;
            if page.is_empty() {
                return Ok(());
            }
            for logged in page {
                next = logged.log_index.saturating_add(1);
                let hash = logged.record.trace.get("probe_hash").and_then(Json::as_str).unwrap_or_default();
                if probes.insert(hash.to_owned()) {
                    let probe = self.probe(hash)?;
                    put(&line("probe", probe.write()))?;
                }
                let decision = BundledDecision { log_index: count(logged.log_index)?, record: logged.record };
                put(&line("decision", decision.write()))?;
            }
        }
    }

    /// The probe facts with this hash.
    pub(crate) fn probe(&self, hash: &str) -> Result<ProbeFacts, ServiceError> {
        let missing = || ServiceError::defect(format!("the probe facts {hash} are missing"));
        let hash = ProbeHash::parse(hash).map_err(|_| missing())?;
        self.store().probe(&hash)?.ok_or_else(missing)
    }
}

fn line(kind: &str, value: Json<'static>) -> String {
    let mut line = Json::object([(kind.to_owned(), value)]).to_canonical();
    line.push('\n');
    line
}

fn count(number: u64) -> Result<Count, ServiceError> {
    let number_or_none = i64::try_from(number).ok().and_then(Count::new);
    number_or_none.ok_or_else(|| ServiceError::defect(format!("{number} is too large")))
}
