//! Our trees agree with an implementation written from the RFC alone, and no changed proof passes.
#![expect(clippy::arithmetic_side_effects, reason = "small numbers in tests")]

use alloc::{format, string::ToString as _, vec::Vec};

use countersign_canon::Sha256;
use proptest::{prelude::*, sample::Index};

use super::{Frontier, LeafHash, RootHash, TreeHead, extends, includes, prove_consistency, prove_inclusion};

/// Size, root, digest of all inclusion proofs, digest of all consistency proofs: see `rfc6962.py` beside it.
const SECOND_OPINION: &str = include_str!("../../tests/rfc6962.txt");

fn leaves(size: u64) -> Vec<LeafHash> {
    (0..size).map(|index| LeafHash::of(index.to_string().as_bytes())).collect()
}

fn head(leaves: &[LeafHash]) -> TreeHead {
    let mut frontier = Frontier::new();
    leaves.iter().for_each(|leaf| frontier.push(*leaf));
    TreeHead { size: frontier.size(), root: frontier.root() }
}

fn digest_of(proofs: impl Iterator<Item = Vec<Sha256>>) -> Sha256 {
    let hashes: Vec<Sha256> = proofs.flatten().collect();
    Sha256::of_pieces(hashes.iter().map(|hash| &hash.as_bytes()[..]))
}

#[test]
fn roots_and_proofs_agree_with_the_rfc() {
    for (size, line) in (0_u64..).zip(SECOND_OPINION.lines()) {
        let leaves = leaves(size);
        let inclusion = digest_of((0..size).map(|index| prove_inclusion(&leaves, index).unwrap()));
        let consistency = digest_of((1..=size).map(|old| prove_consistency(&leaves, old).unwrap()));
        assert_eq!(format!("{size} {} {inclusion} {consistency}", head(&leaves).root), line);
    }
    assert_eq!(SECOND_OPINION.lines().count(), 41);
}

/// The trees of the test data of the Certificate Transparency project.
#[test]
fn the_root_of_the_well_known_eight_entries() {
    let entries: [&[u8]; 8] = [
        b"",
        b"\x00",
        b"\x10",
        b"\x20\x21",
        b"\x30\x31",
        b"\x40\x41\x42\x43",
        b"\x50\x51\x52\x53\x54\x55\x56\x57",
        b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
    ];
    let leaves = entries.map(LeafHash::of);
    assert_eq!(
        head(&leaves).root.to_string(),
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
    );
    assert_eq!(head(&[]).root, RootHash::of_nothing());
}

#[test]
fn every_proof_of_every_small_tree_verifies() {
    for size in 0..=70 {
        let leaves = leaves(size);
        let new = head(&leaves);
        for index in 0..size {
            let proof = prove_inclusion(&leaves, index).unwrap();
            let leaf = leaves[usize::try_from(index).unwrap()];
            for claimed in 0..=size {
                assert_eq!(includes(&new.root, size, claimed, &leaf, &proof), claimed == index);
            }
        }
        for old_size in 1..=size {
            let old = head(&leaves[..usize::try_from(old_size).unwrap()]);
            let proof = prove_consistency(&leaves, old_size).unwrap();
            assert!(extends(&old, &new, &proof), "{old_size} in {size}");
            assert_eq!(extends(&new, &old, &proof), old_size == size, "a log does not shrink");
        }
        assert!(extends(&head(&[]), &new, &[]));
        assert_eq!(prove_inclusion(&leaves, size), None);
        assert_eq!(prove_consistency(&leaves, size + 1), None);
        assert_eq!(prove_consistency(&leaves, 0), None);
    }
}

#[test]
fn a_frontier_is_made_of_its_parts() {
    let mut frontier = Frontier::new();
    for leaf in leaves(37) {
        let again = Frontier::from_parts(frontier.size(), frontier.peaks().to_vec()).unwrap();
        assert_eq!(again, frontier);
        assert_eq!(Frontier::from_parts(frontier.size() + 1, frontier.peaks().to_vec()).is_some(), {
            (frontier.size() + 1).count_ones() == frontier.size().count_ones()
        });
        frontier.push(leaf);
    }
}

/// Changes a proof in one of five ways.
fn mutate(proof: &mut Vec<Sha256>, way: u8, place: Index, bit: u8) {
    let flip = |hash: &Sha256| {
        let mut bytes = *hash.as_bytes();
        bytes[usize::from(bit / 8)] ^= 1 << (bit % 8);
        Sha256::from_bytes(bytes)
    };
    let at = place.index(proof.len().max(1));
    match (way, proof.get(at).copied()) {
        (0, Some(hash)) => proof[at] = flip(&hash),
        (1, Some(_)) => drop(proof.remove(at)),
        (2, Some(hash)) => proof.insert(at, hash),
        (3, Some(hash)) if proof[(at + 1) % proof.len()] != hash => {
            let other = (at + 1) % proof.len();
            proof.swap(at, other);
        }
        _ => proof.push(Sha256::of(&[bit])),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_changed_inclusion_proof_passes(size in 1_u64..80, at: Index, way in 0_u8..5, place: Index, bit: u8) {
        let leaves = leaves(size);
        let index = at.index(leaves.len());
        let root = head(&leaves).root;
        let claimed = u64::try_from(index).unwrap();
        let mut proof = prove_inclusion(&leaves, claimed).unwrap();
        mutate(&mut proof, way, place, bit);
        prop_assert!(!includes(&root, size, claimed, &leaves[index], &proof));
    }

    #[test]
    fn no_changed_consistency_proof_passes(size in 2_u64..80, at: Index, way in 0_u8..5, place: Index, bit: u8) {
        let leaves = leaves(size);
        let old_size = at.index(leaves.len()) + 1;
        let (old, new) = (head(&leaves[..old_size]), head(&leaves));
        let mut proof = prove_consistency(&leaves, old.size).unwrap();
        mutate(&mut proof, way, place, bit);
        prop_assert!(!extends(&old, &new, &proof));
    }

    #[test]
    fn another_history_does_not_extend(size in 2_u64..80, at: Index, changed: Index) {
        let leaves = leaves(size);
        let old_size = at.index(leaves.len()) + 1;
        let mut other = leaves[..old_size].to_vec();
        other[changed.index(old_size)] = LeafHash::of(b"rewritten");
        let proof = prove_consistency(&leaves, u64::try_from(old_size).unwrap()).unwrap();
        prop_assert!(!extends(&head(&other), &head(&leaves), &proof));
    }
}
