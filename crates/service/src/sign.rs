//! A person's yes, signed where their private key is: the key never reaches the service.

use countersign_canon::Timestamp;
use countersign_ledger::{Approval, Grant, GrantTtl, Principal, Reason, SecretKey, StepRefusal};
use countersign_store::Refusal;

use crate::ServiceError;

/// Signs just this approval, from now on for so long.
///
/// # Errors
///
/// Fails if it would end after the year 9999.
pub fn sign(
    approval: &Approval,
    approver: &Principal,
    key: &SecretKey,
    (granted_at, ttl_s): (Timestamp, GrantTtl),
    reason: Reason,
) -> Result<Grant, ServiceError> {
    let statement = approval.statement(approver, granted_at, ttl_s, &reason);
    let statement = statement.ok_or(Refusal::Step(StepRefusal::Time))?;
    Ok(Grant {
        approver: approver.clone(),
        key_id: key.public().key.id(),
        signature: statement.sign(key),
        granted_at,
        ttl_s,
        reason,
    })
}
