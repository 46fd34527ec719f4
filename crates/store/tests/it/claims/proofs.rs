//! What holds of proofs about a policy: they are kept and referred to, and decide nothing.

use countersign_canon::{Json, Object, Sha256, Wire as _};
use countersign_ledger::{
    Access, EventKind, LoadedVersion, ProofArtifact, ProofId, ProofInput, ProofStatus, StreamId, TheoremId,
};
use countersign_policy::{Mode, ProbeHash};
use countersign_store::{Command, KeptProof};

use crate::lab::{Lab, action, text};

/// A proof about the version in force, as if somebody had made one.
fn proof(lab: &Lab, theorem: &str, status: ProofStatus) -> KeptProof {
    let version = lab.store.version_in_force().unwrap().unwrap();
    let certificate = format!("the certificate of {theorem}");
    let input = |name: &str, hash: &Sha256| ProofInput {
        object_id: text(name),
        json_path: text("$"),
        formula_hash: *hash,
    };
    let artifact = ProofArtifact {
        proof_id: ProofId::unnamed(),
        backend: text("test"),
        theorem_id: TheoremId::parse(theorem).unwrap(),
        status,
        proof_hash: Sha256::of(certificate.as_bytes()),
        inputs: vec![
            input("policy", version.policy_hash.digest()),
            input("lattice", version.lattice_hash.digest()),
            input("allow", version.allow_hash.digest()),
        ],
        details: Object::default(),
    };
    let certificate = (status == ProofStatus::Proved).then_some(certificate);
    KeptProof { artifact: artifact.named(), certificate }
}

pub(crate) fn a_proof_changes_nothing_but_the_evidence(lab: &Lab) {
    let session = lab.session(Mode::WritesAllowed);
    let kinds = ["fs.read", "fs.write", "secret", "deploy", "turn.steer", "unheard.of"];
    let traces = || -> Vec<Object<'static>> {
        kinds.map(|kind| lab.decide(action(Some(&session), kind, "prod")).unwrap().0.trace).into()
    };
    let without = traces();
    let keep = |proofs| {
        let version = lab.store.version_in_force().unwrap().unwrap().version;
        lab.tell("ann", Access::Admin, Command::KeepProofs(version, proofs))
    };
    // One that failed leaves its event, and nothing else.
    let failed = proof(lab, "failed", ProofStatus::Failed);
    keep(vec![failed.clone()]).unwrap();
    assert_eq!(traces(), without);
    let proved = proof(lab, "proved", ProofStatus::Proved);
    keep(vec![proved.clone()]).unwrap();
    keep(vec![proved.clone()]).unwrap();
    let with = traces();
    let reference = proved.artifact.evidence().unwrap().write().to_canonical();
    for (before, after) in without.iter().zip(&with) {
        assert_eq!(after.get("evidence_refs").unwrap().to_canonical(), format!("[{reference}]"));
        let others = |trace: &Object<'static>| {
            let others = trace.members().iter().filter(|member| member.key != "evidence_refs");
            Json::object(others.map(|member| (member.key.clone(), member.value.clone()))).to_canonical()
        };
        assert_eq!(others(before), others(after), "byte for byte");
    }
    let events: Vec<EventKind> =
        lab.store.events(&StreamId::policy(), 0).unwrap().iter().map(|event| event.event).collect();
    assert!(events.ends_with(&[EventKind::ProofRunFail, EventKind::ProofRunPass]), "{events:?}");
    assert_eq!(lab.store.certificate(&proved.artifact.proof_hash).unwrap(), proved.certificate);
    let kept = lab.store.proofs(lab.store.version_in_force().unwrap().unwrap().version).unwrap();
    assert_eq!(kept.len(), 2);
    // Every decision can be made again, with its proofs and without any being a fact.
    let version = LoadedVersion::load(&lab.store.version_in_force().unwrap().unwrap()).unwrap();
    for logged in lab.store.decisions(0, 100).unwrap() {
        let hash = logged.record.trace.get("probe_hash").and_then(Json::as_str).unwrap();
        let probe = lab.store.probe(&ProbeHash::parse(hash).unwrap()).unwrap().unwrap();
        assert_eq!(logged.record.redecide(&version, &probe), Ok(()));
    }
    // Not of this policy, not itself, not with this certificate, not by anybody.
    let mut other = proved.clone();
    other.artifact.inputs[0].formula_hash = Sha256::of(b"another policy");
    other.artifact = other.artifact.named();
    let mut renamed = proved.clone();
    renamed.artifact.proof_id = failed.artifact.proof_id;
    let bare = KeptProof { certificate: Some("another".to_owned()), ..proved.clone() };
    for refused in [other, renamed, bare] {
        assert!(keep(vec![refused]).is_err());
    }
    let version = lab.store.version_in_force().unwrap().unwrap().version;
    assert!(lab.tell("bob", Access::Agent, Command::KeepProofs(version, vec![proved])).is_err());
}
