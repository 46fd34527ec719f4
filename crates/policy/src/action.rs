//! The one recipe of the action hash, shared by decisions and approvals (K1.4, K6.5).

use countersign_canon::{Alphabet, Json, Shape, checked_name, typed_hash};

/// What the names that a context holds look like: roles, kinds of action, capabilities, probe facts.
///
/// Names are ASCII, so that two names that look alike are alike.
pub(crate) const NAME_SHAPE: Shape = Shape {
    prefix: "",
    first: Some(Alphabet("A-Za-z")),
    rest: Alphabet("A-Za-z0-9_.:@/-"),
    rest_min: 0,
    rest_max: Some(127),
};

checked_name! {
    /// What kind of action it is, such as `fs.write` or `deploy`.
    pub ActionKind, "kind of action", NAME_SHAPE
}

impl ActionKind {
    /// The kind of an action whose kind does not matter.
    pub(crate) fn unnamed() -> Self {
        Self("unnamed".into())
    }
}

typed_hash! {
    /// The hash of one action: its kind and its whole payload.
    pub ActionHash
}

/// Hashes an action: SHA-256 over the canonical form of `{action_kind, action_payload}`.
///
/// There is no other recipe. An approval is bound to this hash, and so is the atom `action_hash_matches`.
///
/// # Examples
///
/// ```
/// use countersign_canon::Json;
/// use countersign_policy::{ActionKind, action_hash};
///
/// let kind = ActionKind::parse("deploy")?;
/// let one = action_hash(&kind, &Json::parse(br#"{"env": "prod", "replicas": 2.0}"#)?);
/// let two = action_hash(&kind, &Json::parse(br#"{"replicas": 2, "env": "pr\u006fd"}"#)?);
/// assert_eq!(one, two);
/// # Ok::<(), countersign_canon::Issue>(())
/// ```
#[must_use]
pub fn action_hash(kind: &ActionKind, payload: &Json<'_>) -> ActionHash {
    let action =
        Json::object([("action_kind", Json::from(kind.as_str())), ("action_payload", payload.clone())]);
    ActionHash::of_json(&action)
}

#[cfg(test)]
mod tests;
