//! Machine codes of the ledger.

/// The codes of this crate.
pub mod codes {
    countersign_canon::declare_codes! {
        /// An event is not a `urm-events@1` envelope.
        URM_EVENT_INVALID
    }
}
