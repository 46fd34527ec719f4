//! The shape of an artifact, and the id that follows from it.

use countersign_canon::{Json, Object, Sha256, Text};

use super::{ProofArtifact, ProofId, ProofInput, ProofStatus, TheoremId};

fn artifact() -> ProofArtifact {
    let text = |text: &str| Text::new(text.into()).unwrap();
    ProofArtifact {
        proof_id: ProofId::unnamed(),
        backend: text("solver"),
        theorem_id: TheoremId::parse("theorem").unwrap(),
        status: ProofStatus::Proved,
        proof_hash: Sha256::of(b"certificate"),
        inputs: [ProofInput {
            object_id: Text::new("policy".into()).unwrap(),
            json_path: Text::new("$".into()).unwrap(),
            formula_hash: Sha256::of(b"policy"),
        }]
        .into(),
        details: Object::default(),
    }
    .named()
}

mod k4_1 {
    use alloc::vec::Vec;

    use countersign_canon::Wire as _;

    use super::{Json, artifact};

    #[test]
    fn an_artifact_has_the_seeds_shape_and_no_other() {
        let json = artifact().write();
        let keys = |json: &Json<'_>| -> Vec<_> {
            json.as_object().unwrap().members().iter().map(|member| member.key.clone().into_owned()).collect()
        };
        let mut all = keys(&json);
        all.sort();
        assert_eq!(all, ["backend", "details", "inputs", "proof_hash", "proof_id", "status", "theorem_id"]);
        let mut input = keys(&json.get("inputs").unwrap().as_array().unwrap()[0]);
        input.sort();
        assert_eq!(input, ["formula_hash", "json_path", "object_id"]);
    }
}

#[test]
fn the_id_follows_from_everything_else() {
    let one = artifact();
    assert!(one.is_itself());
    let other = ProofArtifact { proof_hash: Sha256::of(b"another"), ..one.clone() };
    assert!(!other.is_itself());
    assert_ne!(other.named().proof_id, one.proof_id);
    assert_eq!(one.evidence().unwrap().reference.as_str(), alloc::format!("proof:{}", one.proof_id));
}
