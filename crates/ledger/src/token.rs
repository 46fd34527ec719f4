//! Tokens: what a caller shows to be somebody.

use countersign_canon::{Sha256, Timestamp, choice, record};

use crate::Principal;

choice! {
    /// What a caller may do; a token carries exactly one.
    pub enum Access {
        /// Ask for decisions, and nothing else.
        Agent = "agent",
        /// Grant and deny requests.
        Approver = "approver",
        /// Read everything, change nothing.
        Auditor = "auditor",
        /// Set up: sessions, keys, tokens, policies.
        Admin = "admin",
    }
}

record! {
    /// A token as the store knows it: by its hash, never by itself.
    pub struct Token {
        /// The SHA-256 of the secret text.
        token_hash: Sha256,
        /// Whom it speaks for.
        name: Principal,
        /// What it may do.
        access: Access,
        /// When it was made.
        created_at: Timestamp,
        /// When it stopped counting.
        revoked_at: Option<Timestamp>,
    }
}

impl Token {
    /// The hash by which a secret is found. The secret has 256 random bits, so that a fast hash is enough.
    #[must_use]
    pub fn hash_of(secret: &str) -> Sha256 {
        Sha256::of(secret.as_bytes())
    }
}
