//! Machine codes of the service.

/// The codes of this crate.
pub mod codes {
    countersign_canon::declare_codes! {
        /// The clock of this machine shows no time that can be written down.
        SERVICE_CLOCK
        /// The service contradicts itself: a defect of ours.
        SERVICE_DEFECT
        /// A text is longer or shorter than it may be.
        SERVICE_TEXT_LENGTH
    }
}
