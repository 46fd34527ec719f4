//! The names in dry-run documents: checked where text comes in.

use countersign_canon::{Alphabet, Shape, checked_name};

const NUMBERED: Alphabet = Alphabet("0-9");
const HEX: Alphabet = Alphabet("0-9a-f");

const fn named(prefix: &'static str, rest: Alphabet, rest_min: usize, rest_max: usize) -> Shape {
    Shape { prefix, first: None, rest, rest_min, rest_max: Some(rest_max) }
}

checked_name! {
    /// The id of a result: sixteen digits of the hash of the intent's id and checksum.
    pub ResultId, "dry-run result id", named("dryexec_", HEX, 16, 16)
}
checked_name! {
    /// The id of a node: `phase_001`, `action_001`, `decision_001`, `review_001`.
    pub NodeId, "node id",
    Shape { prefix: "", first: Some(Alphabet("a-z")), rest: Alphabet("a-z0-9_"), rest_min: 2, rest_max: Some(64) }
}
checked_name! {
    /// The id of an edge.
    pub EdgeId, "edge id", named("edge_", NUMBERED, 3, 6)
}
checked_name! {
    /// The id of a commit.
    pub CommitId, "commit id", named("commit_", NUMBERED, 3, 3)
}
checked_name! {
    /// What stands where the hash of a diff will be; it can be taken for no hash.
    pub DiffPlaceholder, "diff placeholder", named("placeholder_", HEX, 64, 64)
}
