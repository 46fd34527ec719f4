//! Machine codes of the store.

/// The codes of this crate.
pub mod codes {
    countersign_canon::declare_codes! {
        /// The store cannot be read or written now; whatever was asked is denied.
        URM_STORE_UNAVAILABLE
        /// More is being asked of the store than it can take; nothing was done.
        URM_STORE_BUSY
        /// There is nothing under this id.
        URM_NOT_FOUND
        /// There is something under this id already.
        URM_EXISTS
        /// There is no token, or it is unknown or revoked.
        URM_UNAUTHENTICATED
        /// The caller may not do this.
        URM_FORBIDDEN
        /// The request contradicts itself or its own rules.
        URM_REQUEST_INVALID
        /// The session has ended.
        URM_SESSION_STOPPED
        /// A client_request_id was used again for another request.
        URM_IDEMPOTENCY_KEY_CONFLICT
        /// The clock went back by more than the log bears; nothing is decided until it has caught up.
        URM_CLOCK_BACK
        /// What the store holds contradicts itself; nothing more is written to it.
        STORE_CORRUPT
        /// The log is not the one that its copy outside the store is from: it was taken back, or is another; nothing is written.
        STORE_ROLLED_BACK
        /// There is no store where one is to be read.
        STORE_MISSING
        /// The store was made by a later version of this program.
        STORE_SCHEMA_NEWER
        /// A file or folder of the store can be written by other users.
        STORE_OPEN_TO_OTHERS
        /// The database engine is a version with a known fault, or refuses a setting that durability needs.
        STORE_ENGINE_UNSAFE
    }
}
