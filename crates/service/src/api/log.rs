//! The log: its newest checkpoint and its proofs.

use countersign_canon::{Sha256, Within, record};
use countersign_ledger::{
    Event, Frontier, LeafHash, NoteKey, RootHash, SignedCheckpoint, prove_consistency, prove_inclusion,
};
use countersign_store::Refusal;

use super::{ANYBODY, Asked, Endpoint, READERS, Route};
use crate::{Caller, Node, ServiceError};

/// A place in the log, or a size of it.
pub(crate) type Place = Within<0, 9_007_199_254_740_991>;

record! {
    /// Shows the newest checkpoint.
    pub struct GetCheckpoint {}
}

record! {
    /// The newest checkpoint.
    pub struct CheckpointView {
        /// The signed note.
        checkpoint: String,
        /// The public keys of everybody who signs the log.
        log_keys: Vec<NoteKey>,
    }
}

impl Endpoint for GetCheckpoint {
    type Reply = CheckpointView;
    const ROUTE: Route =
        Route::get("/v1/log/checkpoint", ANYBODY, "Show the newest signed checkpoint of the log");

    fn ask(self, _: &Caller) -> Result<Asked<CheckpointView>, ServiceError> {
        Ok(Asked::question(|node| {
            let checkpoint = newest(node)?.as_str().to_owned();
            Ok(CheckpointView { checkpoint, log_keys: node.store().log_keys()? })
        }))
    }
}

fn newest(node: &Node) -> Result<SignedCheckpoint, ServiceError> {
    let nothing = || Refusal::NotFound { what: "checkpoint", id: "newest".to_owned() };
    Ok(node.store().checkpoint()?.ok_or_else(nothing)?)
}

/// The newest checkpoint and the hashes that it covers.
fn head(node: &Node) -> Result<(SignedCheckpoint, Vec<LeafHash>), ServiceError> {
    let note = newest(node)?;
    let size = note.claim().map_err(|issue| ServiceError::defect(issue.to_string()))?.head.size;
    Ok((note, node.store().log_leaves(size)?))
}

fn root(leaves: &[LeafHash]) -> RootHash {
    let mut frontier = Frontier::new();
    leaves.iter().for_each(|leaf| frontier.push(*leaf));
    frontier.root()
}

record! {
    /// Proves that an event is in the log.
    pub struct ProveInclusion {
        /// The event's place in the log, from 0.
        event: Place,
    }
}

record! {
    /// The proof that an event is in the log, as RFC 6962 has it.
    pub struct InclusionProof {
        /// The event's place.
        log_index: Place,
        /// The size of the log.
        tree_size: Place,
        /// The event.
        event: Event,
        /// The root of the log.
        root: RootHash,
        /// The path from the event to the root.
        proof: Vec<Sha256>,
        /// The signed checkpoint with this root.
        checkpoint: String,
    }
}

impl Endpoint for ProveInclusion {
    type Reply = InclusionProof;
    const ROUTE: Route = Route::get("/v1/log/proof", READERS, "Prove that an event is in the log");

    fn ask(self, _: &Caller) -> Result<Asked<InclusionProof>, ServiceError> {
        Ok(Asked::question(move |node| {
            let (note, leaves) = head(node)?;
            let index = u64::try_from(self.event.get()).unwrap_or(u64::MAX);
            let missing = || Refusal::NotFound { what: "event", id: index.to_string() };
            let proof = prove_inclusion(&leaves, index).ok_or_else(missing)?;
            let event = node.store().log_events(index, 1)?.into_iter().next().ok_or_else(missing)?;
            Ok(InclusionProof {
                log_index: self.event,
                tree_size: size(leaves.len()),
                event: event.event,
                root: root(&leaves),
                proof,
                checkpoint: note.as_str().to_owned(),
            })
        }))
    }
}

fn size(count: usize) -> Place {
    Place::clamped(i64::try_from(count).unwrap_or(i64::MAX))
}

record! {
    /// Proves that the log of one size is the beginning of the log of another.
    pub struct ProveConsistency {
        /// The smaller size.
        old: Place,
        /// The larger size.
        new: Place,
    }
}

record! {
    /// The proof that the log of one size is the beginning of the log of another, as RFC 6962 has it.
    pub struct ConsistencyProof {
        /// The smaller size.
        old_size: Place,
        /// Its root.
        old_root: RootHash,
        /// The larger size.
        new_size: Place,
        /// Its root.
        new_root: RootHash,
        /// The hashes that lead from the one to the other.
        proof: Vec<Sha256>,
    }
}

impl Endpoint for ProveConsistency {
    type Reply = ConsistencyProof;
    const ROUTE: Route = Route::get(
        "/v1/log/consistency",
        READERS,
        "Prove that the log of one size begins the log of another",
    );

    fn ask(self, _: &Caller) -> Result<Asked<ConsistencyProof>, ServiceError> {
        let Self { old, new } = self;
        Ok(Asked::question(move |node| {
            let wrong = || Refusal::Invalid {
                message: format!(
                    "{} and {} are not two sizes of the log, the smaller one first",
                    old.get(),
                    new.get()
                ),
            };
            let (_, mut leaves) = head(node)?;
            let until =
                usize::try_from(new.get()).ok().filter(|until| *until <= leaves.len()).ok_or_else(wrong)?;
            leaves.truncate(until);
            let from = u64::try_from(old.get()).unwrap_or(u64::MAX);
            let proof = prove_consistency(&leaves, from).ok_or_else(wrong)?;
            let new_root = root(&leaves);
            leaves.truncate(usize::try_from(from).unwrap_or(usize::MAX));
            Ok(ConsistencyProof { old_size: old, old_root: root(&leaves), new_size: new, new_root, proof })
        }))
    }
}
