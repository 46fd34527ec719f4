//! Machine codes of the ledger.

/// The codes of this crate.
pub mod codes {
    countersign_canon::declare_codes! {
        /// An event is not a `urm-events@1` envelope.
        URM_EVENT_INVALID
        /// An approval does not stand where this is possible, or has been signed by this person already.
        URM_APPROVAL_STATE_CONFLICT
        /// The requester of an approval tried to grant it.
        URM_APPROVAL_OWN_REQUEST
        /// The signature of an approval is not by a registered key of the approver over this approval.
        URM_APPROVAL_SIGNATURE_INVALID
        /// The statement of an approval was not signed now.
        URM_APPROVAL_CLOCK
        /// A further signature of an approval gives another reason or duration than the first.
        URM_APPROVAL_DIFFERS
        /// A text is not a key, or a key that would accept forgeries.
        KEY_INVALID
        /// A signature is missing, malformed, of something else or by somebody else.
        SIGNATURE_INVALID
        /// A text is not a signed checkpoint of a log.
        CHECKPOINT_INVALID
        /// An event or checkpoint of the log is missing, too many, or not in its place.
        LOG_ORDER
        /// An entry of the log is not an event, or is found under another stream or place than its own.
        LOG_EVENT
        /// A stream of events has a gap or a repetition.
        LOG_SEQ
        /// The events of the log do not have the root that was signed.
        LOG_ROOT
        /// Events follow the last checkpoint of the log.
        LOG_UNSIGNED
        /// A checkpoint covers more events than the log has.
        LOG_TRUNCATED
        /// The log is shorter than a checkpoint that was kept outside.
        LOG_ROLLED_BACK
        /// The log contradicts a checkpoint that was kept outside.
        LOG_FORKED
    }
}
