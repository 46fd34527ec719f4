//! Checks a bundle without the store: signatures, roots, hashes, and every decision made again.

use std::collections::BTreeMap;

use countersign_canon::{Code, Json, Reader, Sha256, Wire as _};
use countersign_ledger::{
    Approval, ApproverKey, Event, EventKind, LoadedVersion, LogCheck, LogFault, LogReport, NoteKey,
    PolicyVersion, ProofStatus, SignedCheckpoint, StoredCheckpoint, StoredEvent,
};
use countersign_policy::{ApprovalState, ProbeFacts};

use super::{BundleHeader, BundleLine, BundledCheckpoint, BundledDecision, BundledProof};
use crate::code::codes;

/// The first place at which a bundle is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct BundleFault {
    /// What kind of fault.
    pub code: Code,
    /// Where.
    pub place: String,
    /// What was found.
    pub message: String,
}

/// What a check has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleReport {
    /// What it has shown about the log.
    pub log: LogReport,
    /// How many decisions were made again, with the same bytes.
    pub decisions: u64,
    /// How many approvals are as the log says, with good signatures.
    pub approvals: u64,
    /// How many policy versions there are.
    pub policy_versions: u64,
    /// How many proofs are as the log says, each that is proved with a certificate that holds.
    pub proofs: u64,
}

impl BundleReport {
    /// The report as a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let number = |number: u64| Json::from(u32::try_from(number).unwrap_or(u32::MAX));
        Json::object([
            ("level", Json::from(self.log.level.as_str())),
            ("events", number(self.log.head.size)),
            ("root", Json::from(self.log.head.root.to_string())),
            ("checkpoints", number(self.log.checkpoints)),
            ("decisions", number(self.decisions)),
            ("approvals", number(self.approvals)),
            ("policy_versions", number(self.policy_versions)),
            ("proofs", number(self.proofs)),
        ])
    }
}

/// What the log says about one decision.
#[derive(Debug)]
struct Recorded {
    decision_id: String,
    decision_hash: String,
    policy_version: Option<Json<'static>>,
}

/// A check under way: give it every line in order, then [`BundleCheck::finish`].
#[derive(Debug)]
pub struct BundleCheck {
    trusted: Option<Vec<NoteKey>>,
    outside: Vec<SignedCheckpoint>,
    log: Option<LogCheck>,
    lines: u64,
    versions: BTreeMap<i64, LoadedVersion>,
    probes: BTreeMap<String, ProbeFacts>,
    keys: Vec<ApproverKey>,
    // By place in the log: decisions that are still to come.
    recorded: BTreeMap<u64, Recorded>,
    in_force: Option<Json<'static>>,
    // By id: the hash of each approval as the log saw it last.
    approvals: BTreeMap<String, Sha256>,
    // By id: the hash of each proof that is still to come.
    proofs: BTreeMap<String, String>,
    decisions_seen: u64,
    approvals_seen: u64,
    proofs_seen: u64,
}

impl BundleCheck {
    /// Starts a check. Without trusted keys the bundle's own are believed; checkpoints kept elsewhere catch a rollback.
    #[must_use]
    pub const fn new(trusted: Option<Vec<NoteKey>>, outside: Vec<SignedCheckpoint>) -> Self {
        Self {
            trusted,
            outside,
            log: None,
            lines: 0,
            versions: BTreeMap::new(),
            probes: BTreeMap::new(),
            keys: Vec::new(),
            recorded: BTreeMap::new(),
            in_force: None,
            approvals: BTreeMap::new(),
            proofs: BTreeMap::new(),
            decisions_seen: 0,
            approvals_seen: 0,
            proofs_seen: 0,
        }
    }

    /// Takes the next line.
    ///
    /// # Errors
    ///
    /// Fails if it is not what it should be at this place.
    pub fn line(&mut self, text: &[u8]) -> Result<(), BundleFault> {
        self.lines = self.lines.saturating_add(1);
        let read: Result<BundleLine, _> = Reader::read_document(text, codes::BUNDLE_INVALID);
        let line = read.map_err(|issues| {
            let first =
                issues.first().map_or_else(String::new, |issue| format!("{}: {issue}", issue.pointer));
            self.fault(codes::BUNDLE_INVALID, first)
        })?;
        let BundleLine {
            header,
            policy_version,
            probe,
            approver_key,
            event,
            checkpoint,
            decision,
            approval,
            proof,
        } = line;
        if (header.is_some()) != (self.log.is_none()) {
            return Err(self.fault(codes::BUNDLE_INVALID, "the header is the first line and no other"));
        }
        let mut fields = 0_u32;
        let mut has = |is_there: bool| fields = fields.saturating_add(u32::from(is_there));
        has(header.is_some());
        has(policy_version.is_some());
        has(probe.is_some());
        has(approver_key.is_some());
        has(event.is_some());
        has(checkpoint.is_some());
        has(decision.is_some());
        has(approval.is_some());
        has(proof.is_some());
        if fields != 1 {
            return Err(
                self.fault(codes::BUNDLE_INVALID, format!("found {fields} fields, there must be one"))
            );
        }
        header.map_or(Ok(()), |it| self.header(&it))?;
        policy_version.map_or(Ok(()), |it| self.policy_version(&it))?;
        self.probes.extend(probe.map(|it| (it.hash().to_string(), it)));
        self.keys.extend(approver_key);
        event.map_or(Ok(()), |it| self.event(&it))?;
        checkpoint.map_or(Ok(()), |it| self.checkpoint(&it))?;
        decision.map_or(Ok(()), |it| self.decision(&it))?;
        approval.map_or(Ok(()), |it| self.approval(&it))?;
        proof.map_or(Ok(()), |it| self.proof(&it))
    }

    /// Ends the check.
    ///
    /// # Errors
    ///
    /// Fails if the log does not end well, and if something that it speaks of is missing.
    pub fn finish(self) -> Result<BundleReport, BundleFault> {
        let missing = |what: String| self.fault(codes::BUNDLE_INCOMPLETE, what);
        if let Some((index, recorded)) = self.recorded.first_key_value() {
            return Err(missing(format!("decision {} of event {index} is missing", recorded.decision_id)));
        }
        if let Some(id) = self.approvals.keys().next() {
            return Err(missing(format!("approval {id} is missing")));
        }
        if let Some(id) = self.proofs.keys().next() {
            return Err(missing(format!("proof {id} is missing")));
        }
        let (decisions, approvals, proofs) = (self.decisions_seen, self.approvals_seen, self.proofs_seen);
        let policy_versions = u64::try_from(self.versions.len()).unwrap_or(u64::MAX);
        let fault = self.fault(codes::BUNDLE_INVALID, "there is no header");
        let log = self.log.ok_or(fault)?.finish().map_err(log_fault)?;
        Ok(BundleReport { log, decisions, approvals, policy_versions, proofs })
    }

    fn header(&mut self, header: &BundleHeader) -> Result<(), BundleFault> {
        let own = header.log_keys.iter().map(|text| NoteKey::parse(text));
        let own: Result<Vec<NoteKey>, _> = own.collect();
        let own = own.map_err(|issue| self.fault(issue.code, issue.to_string()))?;
        let keys = self.trusted.take().unwrap_or(own);
        self.log = Some(LogCheck::new(keys, &self.outside).map_err(log_fault)?);
        Ok(())
    }

    fn policy_version(&mut self, version: &PolicyVersion) -> Result<(), BundleFault> {
        let loaded =
            LoadedVersion::load(version).map_err(|found| self.fault(codes::BUNDLE_INVALID, found))?;
        self.versions.insert(version.version.get(), loaded);
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), BundleFault> {
        let body = event.to_canonical();
        let Some(log) = &mut self.log else { return Ok(()) };
        let log_index = log.size();
        let stream_id = event.stream_id.as_str();
        let row = StoredEvent { log_index, stream_id, seq: event.seq.get(), body: &body };
        log.event(&row).map_err(log_fault)?;
        let text = |key: &str| event.detail.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        if matches!(event.event, EventKind::PolicyActivated | EventKind::PolicyRolledBack) {
            self.in_force = event.detail.get("policy_version").cloned();
        }
        if matches!(event.event, EventKind::PolicyEvalPass | EventKind::PolicyDenied) {
            let policy_version = event.detail.get("policy_version").cloned();
            if policy_version != self.in_force {
                let message = format!("event {log_index} was decided under a policy that was not in force");
                return Err(self.fault(codes::BUNDLE_DECISION, message));
            }
            let (decision_id, decision_hash) = (text("decision_id"), text("decision_hash"));
            self.recorded.insert(log_index, Recorded { decision_id, decision_hash, policy_version });
        }
        if matches!(event.event, EventKind::ProofRunPass | EventKind::ProofRunFail) {
            self.proofs.insert(text("proof_id"), text("proof_hash"));
        }
        if let Some(approval) = event.detail.get("approval") {
            self.approvals.insert(text("approval_id"), Sha256::of_json(approval));
        }
        Ok(())
    }

    fn checkpoint(&mut self, checkpoint: &BundledCheckpoint) -> Result<(), BundleFault> {
        let unsigned = |number: i64| u64::try_from(number).unwrap_or(u64::MAX);
        let row = StoredCheckpoint {
            number: unsigned(checkpoint.number.get()),
            tree_size: unsigned(checkpoint.tree_size.get()),
            note: &checkpoint.note,
        };
        self.log.as_mut().map_or(Ok(()), |log| log.checkpoint(&row)).map_err(log_fault)
    }

    /// The decision is the one that the log has at its place, and would be made again.
    fn decision(&mut self, decision: &BundledDecision) -> Result<(), BundleFault> {
        let BundledDecision { log_index, record } = decision;
        let recorded = u64::try_from(log_index.get()).ok().and_then(|index| self.recorded.remove(&index));
        let wrong = |message: String| Err(self.fault(codes::BUNDLE_DECISION, message));
        let id = &record.decision_id;
        let Some(recorded) = recorded else {
            return wrong(format!("the log has no decision {id} at event {}", log_index.get()));
        };
        if recorded.decision_id != id.as_str() || recorded.decision_hash != record.hash().to_string() {
            return wrong(format!("decision {id} is not the one that the log recorded"));
        }
        if recorded.policy_version != Some(record.policy_version.write()) {
            return wrong(format!("decision {id} names another policy version than the log"));
        }
        let Some(version) = self.versions.get(&record.policy_version.get()) else {
            return wrong(format!("policy version {} is missing", record.policy_version.get()));
        };
        let probe_hash = record.trace.get("probe_hash").and_then(Json::as_str).unwrap_or_default();
        let Some(probe) = self.probes.get(probe_hash) else {
            return wrong(format!("the probe facts {probe_hash} are missing"));
        };
        if let Err(difference) = record.redecide(version, probe) {
            return wrong(format!("decision {id}: {difference}"));
        }
        self.decisions_seen = self.decisions_seen.saturating_add(1);
        Ok(())
    }

    /// The approval is as the log saw it last, and whoever is said to have signed it did.
    fn approval(&mut self, approval: &Approval) -> Result<(), BundleFault> {
        let id = approval.approval_id.as_str();
        let wrong = |message: String| Err(self.fault(codes::BUNDLE_APPROVAL, message));
        // A signature that is not the last one needed leaves no event.
        let is_open = approval.state == ApprovalState::Pending;
        match self.approvals.get(id) {
            None => return wrong(format!("the log knows no approval {id}")),
            Some(hash) if !is_open && *hash != Sha256::of_json(&approval.write()) => {
                return wrong(format!("approval {id} is not as the log saw it last"));
            }
            Some(_) => (),
        }
        // A key counted when it signed, also if it was revoked later.
        let counted = |key: &ApproverKey| ApproverKey { revoked_at: None, ..key.clone() };
        let keys: Vec<ApproverKey> = self.keys.iter().map(counted).collect();
        let is_granted = matches!(
            approval.state,
            ApprovalState::Granted | ApprovalState::Consumed | ApprovalState::Revoked
        );
        if is_granted && !approval.record(&keys).signatures_valid {
            return wrong(format!("the signatures of approval {id} do not verify"));
        }
        self.approvals.remove(id);
        self.approvals_seen = self.approvals_seen.saturating_add(1);
        Ok(())
    }

    /// The proof is the one that the log tells of, and its certificate holds, whoever made it.
    fn proof(&mut self, proof: &BundledProof) -> Result<(), BundleFault> {
        let BundledProof { artifact, certificate } = proof;
        let id = artifact.proof_id.as_str();
        let wrong = |message: String| Err(self.fault(codes::BUNDLE_PROOF, message));
        if self.proofs.get(id) != Some(&artifact.proof_hash.to_string()) || !artifact.is_itself() {
            return wrong(format!("the log tells of no proof {id} like this one"));
        }
        match (artifact.status, certificate) {
            (ProofStatus::Failed, None) => (),
            (ProofStatus::Proved, Some(text)) => match countersign_proof::check(text.as_bytes()) {
                Ok(report) if report.artifact == *artifact => (),
                Ok(_) => return wrong(format!("the certificate of proof {id} is of another one")),
                Err(issue) => return wrong(format!("the certificate of proof {id}: {issue}")),
            },
            (ProofStatus::Proved, None) | (ProofStatus::Failed, Some(_)) => {
                return wrong(format!("proof {id} is {} and has a certificate or not", artifact.status));
            }
        }
        self.proofs.remove(id);
        self.proofs_seen = self.proofs_seen.saturating_add(1);
        Ok(())
    }

    fn fault(&self, code: Code, message: impl Into<String>) -> BundleFault {
        BundleFault { code, place: format!("line {}", self.lines), message: message.into() }
    }
}

fn log_fault(fault: LogFault) -> BundleFault {
    BundleFault { code: fault.code, place: fault.place.to_string(), message: fault.message }
}
