//! Machine codes of the store.

/// The codes of this crate.
pub mod codes {
    countersign_canon::declare_codes! {
        /// The store cannot be read or written now; whatever was asked is denied.
        URM_STORE_UNAVAILABLE
        /// What the store holds contradicts itself; nothing more is written to it.
        STORE_CORRUPT
        /// The store was made by a later version of this program.
        STORE_SCHEMA_NEWER
        /// A file or folder of the store can be written by other users.
        STORE_OPEN_TO_OTHERS
        /// The database engine is a version with a known fault, or refuses a setting that durability needs.
        STORE_ENGINE_UNSAFE
    }
}
