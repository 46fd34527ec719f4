//! The codes of this crate.

countersign_canon::declare_codes! {
    /// A policy breaks the schema, the grammar of conditions, or one of its own examples.
    URM_POLICY_INVALID_SCHEMA
    /// A policy has too many rules, too many nodes, or is nested too deeply.
    URM_POLICY_CAP_EXCEEDED
    /// A condition refers to something that only a derive rule produces.
    URM_POLICY_DERIVE_FIREWALL_VIOLATION
    /// No policy is loaded, so everything is denied.
    URM_POLICY_NOT_LOADED
    /// No rule allowed the action.
    URM_POLICY_DENIED
    /// The action needs an approval and there is no valid one.
    URM_APPROVAL_REQUIRED
    /// The approval is unknown, of another session, action or kind, not granted, revoked or badly signed.
    URM_APPROVAL_INVALID
    /// The approval was used already.
    URM_APPROVAL_CONSUMED
    /// The approval has expired.
    URM_APPROVAL_EXPIRED
    /// The kind of action has no capability in the lattice, or the probe did not find it.
    URM_CAPABILITY_MISSING
    /// What the action needs is experimental, and nobody opted in.
    URM_EXPERIMENTAL_DISABLED
    /// The role is not granted the capability.
    URM_CAPABILITY_NOT_ALLOWED
    /// The action writes and the session may only read.
    URM_MODE_DENIED
    /// A context breaks its schema.
    URM_CONTEXT_INVALID
    /// A capability lattice breaks its schema or contradicts itself.
    URM_LATTICE_INVALID
    /// An allow policy breaks its schema or names a capability that the lattice does not have.
    URM_ALLOW_INVALID
    /// Probe facts break their schema.
    URM_PROBE_INVALID
    /// A file of test cases breaks its schema.
    URM_CASES_INVALID
    /// A rule does not do what one of its examples says.
    EXAMPLE_FAILED
    /// A rule's effect is not one that its kind may have.
    EFFECT_MISMATCH
    /// No context makes the rule match.
    RULE_NEVER_FIRES
    /// Whenever the rule matches, earlier rules decide, and the outcome is the same without it.
    RULE_SHADOWED
}
