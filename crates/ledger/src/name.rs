//! The names of decisions, permits and people.

use countersign_canon::{Alphabet, Shape, checked_name};

/// What an id that this program makes looks like: a prefix that says of what, and 128 random bits.
const fn made(prefix: &'static str) -> Shape {
    Shape { prefix, first: None, rest: Alphabet("0-9a-f"), rest_min: 32, rest_max: Some(32) }
}

checked_name! {
    /// The id of a decision.
    pub DecisionId, "decision id", made("dec_")
}

checked_name! {
    /// The id of a permit, and of the execution that it let begin.
    pub PermitId, "permit id", made("per_")
}

checked_name! {
    /// Who sent a request: the name that a token was made for.
    pub Principal, "principal",
    Shape {
        prefix: "",
        first: Some(Alphabet("A-Za-z0-9")),
        rest: Alphabet("A-Za-z0-9_.@-"),
        rest_min: 0,
        rest_max: Some(63),
    }
}
