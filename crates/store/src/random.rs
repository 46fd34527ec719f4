//! Fresh ids, keys and secrets: random numbers from the operating system.

use countersign_canon::to_base64;
use countersign_ledger::{DecisionId, PermitId};
use countersign_policy::{ApprovalId, SessionId};

use crate::{StoreError, request::FreshIds};

/// So many random bytes.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Unavailable { message: error.to_string() })?;
    Ok(bytes)
}

fn id<T>(prefix: &str, parse: impl Fn(&str) -> Result<T, countersign_canon::Issue>) -> Result<T, StoreError> {
    let number = u128::from_be_bytes(bytes()?);
    parse(&format!("{prefix}{number:032x}"))
        .map_err(|issue| StoreError::Unavailable { message: format!("a fresh id is not one: {issue}") })
}

impl FreshIds {
    /// Makes ids of 128 random bits each.
    ///
    /// # Errors
    ///
    /// Fails if the system has no randomness to give.
    pub fn make() -> Result<Self, StoreError> {
        Ok(Self {
            decision_id: id("dec_", DecisionId::parse)?,
            permit_id: id("per_", PermitId::parse)?,
            approval_id: id("apr_", ApprovalId::parse)?,
        })
    }

    /// Makes the id of a session.
    ///
    /// # Errors
    ///
    /// Fails if the system has no randomness to give.
    pub fn session() -> Result<SessionId, StoreError> {
        id("ses_", SessionId::parse)
    }
}

/// Makes the secret text of a token: 256 random bits.
///
/// # Errors
///
/// Fails if the system has no randomness to give.
pub fn fresh_secret() -> Result<String, StoreError> {
    let text = to_base64(&bytes::<32>()?);
    Ok(format!("cs_{}", text.trim_end_matches('=').replace('+', "-").replace('/', "_")))
}
