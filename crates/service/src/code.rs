//! Machine codes of the service.

/// The codes of this crate.
pub mod codes {
    countersign_canon::declare_codes! {
        /// The clock of this machine shows no time that can be written down.
        SERVICE_CLOCK
        /// The service contradicts itself: a defect of ours.
        SERVICE_DEFECT
        /// A line of a bundle is not what it should be.
        BUNDLE_INVALID
        /// A bundle lacks something that its log speaks of.
        BUNDLE_INCOMPLETE
        /// A decision of a bundle is not the one in the log, or would not be made again.
        BUNDLE_DECISION
        /// An approval of a bundle is not as the log saw it, or is not signed.
        BUNDLE_APPROVAL
        /// A text is longer or shorter than it may be.
        SERVICE_TEXT_LENGTH
    }
}
