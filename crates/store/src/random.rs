//! Effect: randomness. Fresh ids, keys and secrets from the operating system.
#![expect(clippy::disallowed_methods, reason = "Effect: randomness")]

use std::sync::atomic::{AtomicU32, Ordering};

use countersign_canon::{Timestamp, to_base64};
use countersign_ledger::{DecisionId, PermitId};
use countersign_policy::{ApprovalId, SessionId};

use crate::{StoreError, request::FreshIds};

/// So many random bytes.
pub(crate) fn bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

fn fill(bytes: &mut [u8]) -> Result<(), StoreError> {
    getrandom::fill(bytes).map_err(|error| StoreError::Unavailable { message: error.to_string() })
}

/// Room for an id: four characters to know it by, 32 digits.
const ID_ROOM: usize = 36;

/// How many ids this process has made.
static MADE: AtomicU32 = AtomicU32::new(0);

/// Ids begin with their second and the order in it: they sort by age, and new ones stand side by side in every index.
fn id<T>(
    prefix: &str,
    now: Timestamp,
    random: [u8; 8],
    parse: impl Fn(&str) -> Result<T, countersign_canon::Issue>,
) -> Result<T, StoreError> {
    let second = now.as_unix() & 0xFFFF_FFFF;
    let (order, random) = (MADE.fetch_add(1, Ordering::Relaxed), u64::from_be_bytes(random));
    let mut text = String::with_capacity(ID_ROOM);
    text.push_str(prefix);
    push_hex(&mut text, u64::try_from(second).unwrap_or_default(), 8);
    push_hex(&mut text, u64::from(order), 8);
    push_hex(&mut text, random, 16);
    parse(&text)
        .map_err(|issue| StoreError::Unavailable { message: format!("a fresh id is not one: {issue}") })
}

/// Appends so many hexadecimal digits of a number, the last ones.
fn push_hex(text: &mut String, number: u64, digits: u32) {
    for place in (0..digits).rev() {
        let nibble = u32::try_from((number >> place.saturating_mul(4)) & 0xF).unwrap_or_default();
        text.push(char::from_digit(nibble, 16).unwrap_or('0'));
    }
}

impl FreshIds {
    /// Makes ids that nobody can guess: each has 64 random bits after its second and the order in it.
    ///
    /// # Errors
    ///
    /// Fails if the system has no randomness to give.
    pub fn make(now: Timestamp) -> Result<Self, StoreError> {
        // Asked of the system once.
        let mut words = [[0; 8]; 3];
        fill(words.as_flattened_mut())?;
        let [decision, permit, approval] = words;
        Ok(Self {
            decision_id: id("dec_", now, decision, DecisionId::parse)?,
            permit_id: id("per_", now, permit, PermitId::parse)?,
            approval_id: id("apr_", now, approval, ApprovalId::parse)?,
        })
    }

    /// Makes the id of a session.
    ///
    /// # Errors
    ///
    /// Fails if the system has no randomness to give.
    pub fn session(now: Timestamp) -> Result<SessionId, StoreError> {
        id("ses_", now, bytes()?, SessionId::parse)
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
