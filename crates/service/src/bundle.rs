//! The whole log as lines that somebody without the store can check: one JSON object a line.

mod check;

pub use check::{BundleCheck, BundleFault, BundleReport};

use std::{collections::BTreeSet, vec::IntoIter};

use countersign_canon::{Json, Wire as _, Within, choice, record};
use countersign_ledger::{Approval, ApproverKey, DecisionRecord, Event, PolicyVersion, ProofArtifact};
use countersign_policy::{ProbeFacts, ProbeHash};
use countersign_store::Snapshot;

use crate::{Node, ServiceError};

/// LIMIT: how many rows are in memory at once.
const PAGE_ROWS: u32 = 1000;
/// LIMIT: how many approvals are written at once.
const PAGE_APPROVALS: usize = 1000;

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

/// An export under way. It is all of one state of the store, the one at its begin; the store is only ever asked for a page, so
/// that whoever takes the lines may do so as slowly as they like.
#[derive(Debug)]
pub(crate) struct Export {
    snapshot: Snapshot,
    stage: Stage,
}

/// Where an export is.
#[derive(Debug)]
enum Stage {
    /// The header, the policy versions and the keys come next.
    Head,
    /// Checkpoints from this number on, and events from this place on.
    Log { number: u64, next: u64 },
    /// Decisions from this place of the log on, and which probes were given already.
    Decisions { next: u64, probes: BTreeSet<String> },
    /// These approvals, then these proofs.
    Tail(IntoIter<Approval>, IntoIter<ProofArtifact>),
    /// Nothing comes any more.
    Over,
}

impl Node {
    /// Gives the whole log, with everything that its decisions were made from, line by line.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read, or the line cannot be put.
    pub fn export<E: From<ServiceError>>(&self, put: &mut dyn FnMut(&str) -> Result<(), E>) -> Result<(), E> {
        let mut export = Export::begin(self)?;
        while let Some(piece) = export.next(self)? {
            piece.split_inclusive('\n').try_for_each(&mut *put)?;
        }
        Ok(())
    }

    /// The probe facts with this hash.
    pub(crate) fn probe(&self, hash: &str) -> Result<ProbeFacts, ServiceError> {
        let missing = || ServiceError::defect(format!("the probe facts {hash} are missing"));
        let hash = ProbeHash::parse(hash).map_err(|_| missing())?;
        self.store().probe(&hash)?.ok_or_else(missing)
    }
}

impl Export {
    /// Begins one, with the store as it is now.
    pub(crate) fn begin(node: &Node) -> Result<Self, ServiceError> {
        Ok(Self { snapshot: node.store().snapshot()?, stage: Stage::Head })
    }

    /// The next lines, some thousand at most; nothing at the end.
    pub(crate) fn next(&mut self, node: &Node) -> Result<Option<String>, ServiceError> {
        let mut lines = String::new();
        while lines.is_empty() {
            self.stage = match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Head => self.head(&mut lines),
                Stage::Log { number, next } => self.log(node, (number, next), &mut lines)?,
                Stage::Decisions { next, probes } => self.decisions(node, (next, probes), &mut lines)?,
                Stage::Tail(approvals, proofs) => tail(node, approvals, proofs, &mut lines)?,
                Stage::Over => return Ok(None),
            };
        }
        Ok(Some(lines))
    }

    fn head(&mut self, lines: &mut String) -> Stage {
        let log_keys = self.snapshot.log_keys.iter().map(ToString::to_string).collect();
        put(lines, "header", BundleHeader { schema: BundleSchema::V1, log_keys }.write());
        for version in std::mem::take(&mut self.snapshot.policy_versions) {
            put(lines, "policy_version", version.write());
        }
        for key in std::mem::take(&mut self.snapshot.approver_keys) {
            put(lines, "approver_key", key.write());
        }
        Stage::Log { number: 1, next: 0 }
    }

    /// A page of events, each checkpoint after those it covers.
    fn log(
        &self,
        node: &Node,
        (mut number, mut next): (u64, u64),
        lines: &mut String,
    ) -> Result<Stage, ServiceError> {
        if number > self.snapshot.checkpoints {
            return Ok(Stage::Decisions { next: 0, probes: BTreeSet::new() });
        }
        let notes = node.store().checkpoints(number, PAGE_ROWS)?;
        let mut events = node.store().log_events(next, PAGE_ROWS)?.into_iter();
        for note in notes {
            if number > self.snapshot.checkpoints {
                break;
            }
            let claim = note.claim().map_err(|issue| ServiceError::defect(issue.to_string()))?;
            let size = claim.head.size;
            while next < size {
                let Some(logged) = events.next() else {
                    return self.log_goes_on(lines, number, next);
                };
                next = logged.log_index.saturating_add(1);
                put(lines, "event", logged.event.write());
            }
            let note = note.as_str().to_owned();
            let checkpoint =
                BundledCheckpoint { number: count(claim.number)?, tree_size: count(size)?, note };
            put(lines, "checkpoint", checkpoint.write());
            number = claim.number.saturating_add(1);
        }
        self.log_goes_on(lines, number, next)
    }

    /// Where the log goes on after a page, which must have had something.
    fn log_goes_on(&self, lines: &str, number: u64, next: u64) -> Result<Stage, ServiceError> {
        if lines.is_empty() {
            let Snapshot { checkpoints, size, .. } = &self.snapshot;
            let message =
                format!("the log ends at {next}, checkpoint {number}; not at {size}, {checkpoints}");
            return Err(ServiceError::defect(message));
        }
        Ok(Stage::Log { number, next })
    }

    /// A page of decisions, each probe before the first decision that was made with it.
    fn decisions(
        &mut self,
        node: &Node,
        (mut next, mut probes): (u64, BTreeSet<String>),
        lines: &mut String,
    ) -> Result<Stage, ServiceError> {
        for logged in node.store().decisions(next, PAGE_ROWS)? {
            if logged.log_index >= self.snapshot.size {
                break;
            }
            next = logged.log_index.saturating_add(1);
            let hash = logged.record.trace.get("probe_hash").and_then(Json::as_str).unwrap_or_default();
            if probes.insert(hash.to_owned()) {
                put(lines, "probe", node.probe(hash)?.write());
            }
            let decision = BundledDecision { log_index: count(logged.log_index)?, record: logged.record };
            put(lines, "decision", decision.write());
        }
        if !lines.is_empty() {
            return Ok(Stage::Decisions { next, probes });
        }
        let Snapshot { approvals, proofs, .. } = &mut self.snapshot;
        Ok(Stage::Tail(std::mem::take(approvals).into_iter(), std::mem::take(proofs).into_iter()))
    }
}

/// A page of approvals; then one proof after the other, as a certificate may be long.
fn tail(
    node: &Node,
    mut approvals: IntoIter<Approval>,
    mut proofs: IntoIter<ProofArtifact>,
    lines: &mut String,
) -> Result<Stage, ServiceError> {
    for approval in approvals.by_ref().take(PAGE_APPROVALS) {
        put(lines, "approval", approval.write());
    }
    if lines.is_empty() {
        let Some(artifact) = proofs.next() else { return Ok(Stage::Over) };
        let certificate = node.store().certificate(&artifact.proof_hash)?;
        put(lines, "proof", BundledProof { artifact, certificate }.write());
    }
    Ok(Stage::Tail(approvals, proofs))
}

/// Appends a line.
fn put(lines: &mut String, kind: &str, value: Json<'static>) {
    lines.push_str(&Json::object([(kind.to_owned(), value)]).to_canonical());
    lines.push('\n');
}

fn count(number: u64) -> Result<Count, ServiceError> {
    let number_or_none = i64::try_from(number).ok().and_then(Count::new);
    number_or_none.ok_or_else(|| ServiceError::defect(format!("{number} is too large")))
}
