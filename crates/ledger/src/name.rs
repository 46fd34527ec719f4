//! The names of sessions, runs and roles.

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
