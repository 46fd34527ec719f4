//! The append-only Merkle tree of RFC 6962: roots, and proofs that a stranger can check.

use alloc::vec::Vec;

use countersign_canon::{Sha256, typed_hash};

typed_hash! {
    /// The hash of everything in a log up to some size.
    pub RootHash
}

impl RootHash {
    /// Takes a digest as a root.
    #[must_use]
    pub const fn from_digest(digest: Sha256) -> Self {
        Self(digest)
    }

    /// The root of a log without entries: the hash of nothing.
    #[must_use]
    pub fn of_nothing() -> Self {
        Self(Sha256::of(&[]))
    }
}

/// The hash of one entry of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeafHash(Sha256);

impl LeafHash {
    /// Hashes the exact bytes of an entry.
    #[must_use]
    pub fn of(entry: &[u8]) -> Self {
        Self(Sha256::of_pieces([&[0x00][..], entry]))
    }
}

fn node(left: &Sha256, right: &Sha256) -> Sha256 {
    Sha256::of_pieces([&[0x01][..], left.as_bytes(), right.as_bytes()])
}

/// What must be remembered of a tree to append to it: the roots of its perfect subtrees, largest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    // INVARIANT: as many as there are ones in `size`.
    peaks: Vec<Sha256>,
}

impl Frontier {
    /// The frontier of an empty tree.
    #[must_use]
    pub const fn new() -> Self {
        Self { size: 0, peaks: Vec::new() }
    }

    /// Takes the parts of a frontier again, if they fit together.
    #[must_use]
    pub fn from_parts(size: u64, peaks: Vec<Sha256>) -> Option<Self> {
        (usize::try_from(size.count_ones()) == Ok(peaks.len())).then_some(Self { size, peaks })
    }

    /// How many entries there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The roots of the perfect subtrees, largest first.
    #[must_use]
    pub fn peaks(&self) -> &[Sha256] {
        &self.peaks
    }

    /// Appends an entry.
    pub fn push(&mut self, LeafHash(mut hash): LeafHash) {
        // Each trailing one of the size is a subtree that the new one completes.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                hash = node(&left, &hash);
            }
        }
        self.peaks.push(hash);
        self.size = self.size.saturating_add(1);
    }

    /// The root of the tree.
    #[must_use]
    pub fn root(&self) -> RootHash {
        let folded = self.peaks.iter().rev().copied().reduce(|right, left| node(&left, &right));
        folded.map_or_else(RootHash::of_nothing, RootHash)
    }
}

impl Default for Frontier {
    fn default() -> Self {
        Self::new()
    }
}

/// The largest power of two below `size`, where a tree of at least two entries splits.
fn split(size: usize) -> usize {
    size.saturating_sub(1).checked_ilog2().and_then(|log| 1_usize.checked_shl(log)).unwrap_or_default()
}

fn subtree(leaves: &[LeafHash]) -> Sha256 {
    let mut frontier = Frontier::new();
    leaves.iter().for_each(|leaf| frontier.push(*leaf));
    *frontier.root().digest()
}

/// The proof that entry `index` is in the tree of these entries; nothing if it is not.
#[must_use]
pub fn prove_inclusion(leaves: &[LeafHash], index: u64) -> Option<Vec<Sha256>> {
    let mut index = usize::try_from(index).ok().filter(|index| *index < leaves.len())?;
    let (mut leaves, mut path) = (leaves, Vec::new());
    while leaves.len() > 1 {
        let (left, right) = leaves.split_at_checked(split(leaves.len()))?;
        match index.checked_sub(left.len()) {
            Some(index_right) => {
                path.push(subtree(left));
                (leaves, index) = (right, index_right);
            }
            None => {
                path.push(subtree(right));
                leaves = left;
            }
        }
    }
    path.reverse();
    Some(path)
}

/// The proof that the tree of the first `old_size` entries is the beginning of the tree of all of them.
///
/// Nothing if there are fewer, or none to begin with.
#[must_use]
pub fn prove_consistency(leaves: &[LeafHash], old_size: u64) -> Option<Vec<Sha256>> {
    let mut old_size = usize::try_from(old_size).ok().filter(|size| (1..=leaves.len()).contains(size))?;
    let (mut leaves, mut path) = (leaves, Vec::new());
    // Whether the old tree is still a subtree that both sides know without being told.
    let mut is_known = true;
    while old_size < leaves.len() {
        let (left, right) = leaves.split_at_checked(split(leaves.len()))?;
        match old_size.checked_sub(left.len()).filter(|rest| *rest > 0) {
            Some(rest) => {
                path.push(subtree(left));
                (leaves, old_size, is_known) = (right, rest, false);
            }
            None => {
                path.push(subtree(right));
                leaves = left;
            }
        }
    }
    if !is_known {
        path.push(subtree(leaves));
    }
    path.reverse();
    Some(path)
}

/// Whether the proof shows that the entry stands at `index` in the tree with this size and root.
#[must_use]
pub fn includes(root: &RootHash, size: u64, index: u64, leaf: &LeafHash, proof: &[Sha256]) -> bool {
    let Some(mut last) = size.checked_sub(1).filter(|last| index <= *last) else { return false };
    let (mut index, mut hash) = (index, leaf.0);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if is_right(index) || index == last {
            hash = node(sibling, &hash);
            (index, last) = climb(index, last);
        } else {
            hash = node(&hash, sibling);
        }
        (index, last) = (index >> 1, last >> 1);
    }
    last == 0 && hash == root.0
}

/// A size and the root of the log at that size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeHead {
    /// How many entries there are.
    pub size: u64,
    /// The hash of all of them.
    pub root: RootHash,
}

/// Whether the proof shows that the old tree is the beginning of the new one.
///
/// Every tree begins with the empty one and with itself; both need no proof, and a proof is refused there.
#[must_use]
pub fn extends(old: &TreeHead, new: &TreeHead, proof: &[Sha256]) -> bool {
    if old.size == new.size {
        return old.root == new.root && proof.is_empty();
    }
    let (Some(old_last), Some(new_last)) = (old.size.checked_sub(1), new.size.checked_sub(1)) else {
        return old.size == 0 && old.root == RootHash::of_nothing() && proof.is_empty();
    };
    if old_last > new_last {
        return false;
    }
    // A perfect old tree is its own first node; else the proof starts with one.
    let (seed, rest) = match proof.split_first() {
        _ if old.size.is_power_of_two() => (&old.root.0, proof),
        Some(parts) => parts,
        None => return false,
    };
    let shift = old_last.trailing_ones();
    let (Some(mut index), Some(mut last)) = (old_last.checked_shr(shift), new_last.checked_shr(shift)) else {
        return false;
    };
    let (mut old_hash, mut new_hash) = (*seed, *seed);
    for sibling in rest {
        if last == 0 {
            return false;
        }
        if is_right(index) || index == last {
            old_hash = node(sibling, &old_hash);
            new_hash = node(sibling, &new_hash);
            (index, last) = climb(index, last);
        } else {
            new_hash = node(&new_hash, sibling);
        }
        (index, last) = (index >> 1, last >> 1);
    }
    last == 0 && old_hash == old.root.0 && new_hash == new.root.0
}

fn is_right(index: u64) -> bool {
    index & 1 == 1
}

/// Goes up from a last, left node to the level where it has a sibling.
fn climb(index: u64, last: u64) -> (u64, u64) {
    if is_right(index) || index == 0 {
        return (index, last);
    }
    let shift = index.trailing_zeros();
    (index.checked_shr(shift).unwrap_or_default(), last.checked_shr(shift).unwrap_or_default())
}

#[cfg(test)]
mod tests;
