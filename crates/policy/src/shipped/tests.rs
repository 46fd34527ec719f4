//! What ships is valid, and its lines are what its documents are.

use alloc::vec::Vec;

use super::*;

#[test]
fn the_generated_lines_are_what_the_documents_are() {
    for bundle in BUNDLES {
        assert_eq!(bundle.lines, bundle.to_lines().unwrap());
        let loaded = Bundle::of(bundle.documents()).unwrap().load().unwrap();
        let policy = Policy::load(bundle.policy).unwrap();
        let lattice = Lattice::load(bundle.lattice).unwrap();
        assert_eq!(loaded.policy.hash(), policy.hash());
        assert_eq!(loaded.policy.semantic_form(), policy.semantic_form());
        let said = |policy: &Policy| -> Vec<String> {
            policy.rules().iter().map(|rule| format!("{}: {}", rule.rule_id, rule.message)).collect()
        };
        assert_eq!(said(&loaded.policy), said(&policy));
        assert_eq!(loaded.allow, AllowPolicy::load(bundle.allow, &lattice).unwrap());
        assert_eq!(loaded.lattice, lattice);
    }
}

#[test]
fn what_differs_in_a_byte_is_not_what_ships() {
    for bundle in BUNDLES {
        for changed in 0..3 {
            let mut bytes = bundle.documents().map(Vec::from);
            bytes[changed].push(b' ');
            assert!(Bundle::of(bytes.each_ref().map(Vec::as_slice)).is_none());
        }
    }
    let [policy, _, _] = STANDARD.documents();
    let [_, lattice, allow] = STRICT.documents();
    assert!(Bundle::of([policy, lattice, allow]).is_none());
}
