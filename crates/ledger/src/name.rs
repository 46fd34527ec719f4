//! The names of sessions, runs, roles, people and what they decide about.

use countersign_canon::{Alphabet, Shape, checked_name};

/// What an id that stands in a stream name looks like: no colon, so that a stream name splits in one way.
const ID: Shape = Shape {
    prefix: "",
    first: Some(Alphabet("A-Za-z0-9")),
    rest: Alphabet("A-Za-z0-9_.-"),
    rest_min: 0,
    rest_max: Some(127),
};

checked_name! {
    /// The id of a session: one conversation of one client.
    pub SessionId, "session id", ID
}

checked_name! {
    /// The id of a run: one unattended job of a worker.
    pub RunId, "run id", ID
}

checked_name! {
    /// The name of a role, such as `copilot`.
    pub RoleName, "role",
    Shape {
        prefix: "",
        first: Some(Alphabet("A-Za-z")),
        rest: Alphabet("A-Za-z0-9_.:@/-"),
        rest_min: 0,
        rest_max: Some(127),
    }
}

/// What an id that this program makes looks like: a prefix that says of what, and 128 random bits.
const fn made(prefix: &'static str) -> Shape {
    Shape { prefix, first: None, rest: Alphabet("0-9a-f"), rest_min: 32, rest_max: Some(32) }
}

checked_name! {
    /// The id of an approval.
    pub ApprovalId, "approval id", made("apr_")
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

checked_name! {
    /// A kind of reviewer, such as `security`.
    pub ReviewerKind, "kind of reviewer",
    Shape {
        prefix: "",
        first: Some(Alphabet("a-z")),
        rest: Alphabet("a-z0-9_-"),
        rest_min: 0,
        rest_max: Some(31),
    }
}
