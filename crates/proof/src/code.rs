//! The codes of this crate.

/// The codes of this crate.
pub mod codes {
    countersign_canon::declare_codes! {
        /// An obligation breaks its schema, says nothing, or takes a name that is ours.
        PROOF_OBLIGATION_INVALID
        /// A certificate is damaged, or does not prove what it says.
        PROOF_CERTIFICATE_INVALID
        /// A theorem is about a rule that the policy does not have.
        PROOF_RULE_UNKNOWN
        /// A theorem compares two policies and only one was given.
        PROOF_POLICY_MISSING
        /// The formula and the evaluator disagree: a defect of ours, and no proof.
        PROOF_DISAGREEMENT
    }
}
