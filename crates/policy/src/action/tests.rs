//! The action hash is the hash of its written recipe.

use countersign_canon::{Json, Sha256};

use crate::{ActionKind, action_hash};

#[test]
fn the_recipe_is_sha256_over_the_canonical_object() {
    let kind = ActionKind::parse("git.push").unwrap();
    let payload = Json::parse(br#"{"remote": "origin", "branch": "main", "weight": 0.5}"#).unwrap();
    let by_hand =
        br#"{"action_kind":"git.push","action_payload":{"branch":"main","remote":"origin","weight":0.5}}"#;
    assert_eq!(action_hash(&kind, &payload).digest(), &Sha256::of(by_hand));
}

#[test]
fn kind_and_payload_both_count() {
    let [push, pull] = ["git.push", "git.pull"].map(|kind| ActionKind::parse(kind).unwrap());
    let [main, next] = ["main", "next"].map(|branch| Json::object([("branch", Json::from(branch))]));
    assert_ne!(action_hash(&push, &main), action_hash(&pull, &main));
    assert_ne!(action_hash(&push, &main), action_hash(&push, &next));
}
