//! Keys: whose signatures count.

use countersign_canon::record;
use countersign_ledger::{ApproverKey, KeyId, NoteKey, Principal};
use countersign_policy::{NameSet, Role};
use countersign_store::{Command, Refusal};

use super::{ADMINS, AUDITORS, Asked, Done, Endpoint, Route, done};
use crate::{Caller, ServiceError, clock};

record! {
    /// Lists keys.
    pub struct ListKeys {}
}

record! {
    /// Registered keys.
    pub struct ApproverKeys {
        /// Each of them, also those that no longer count.
        keys: Vec<ApproverKey>,
    }
}

impl Endpoint for ListKeys {
    type Reply = ApproverKeys;
    const ROUTE: Route = Route::get("/v1/keys", AUDITORS, "List the keys that people sign with");

    fn ask(self, _: &Caller) -> Result<Asked<ApproverKeys>, ServiceError> {
        Ok(Asked::question(|node| Ok(ApproverKeys { keys: node.store().approver_keys()? })))
    }
}

record! {
    /// Registers a public key: from now on its signature counts.
    pub struct AddKey {
        /// The key, as `countersign keys generate` prints it; its name is the approver's.
        key: NoteKey,
        /// The kinds of review that the person may do.
        reviews: Option<NameSet<Role>>,
    }
}

impl Endpoint for AddKey {
    type Reply = ApproverKey;
    const ROUTE: Route = Route::post("/v1/keys", ADMINS, "Register a key that a person signs with");

    fn ask(self, _: &Caller) -> Result<Asked<ApproverKey>, ServiceError> {
        let key = approver_key(&self.key, self.reviews.unwrap_or_default())?;
        Ok(Asked::change(Command::AddKey(Box::new(key.clone())), move |_| Ok(key)))
    }
}

/// The key as it is registered.
pub(crate) fn approver_key(key: &NoteKey, reviews: NameSet<Role>) -> Result<ApproverKey, ServiceError> {
    let approver = Principal::parse(key.name.as_str())
        .map_err(|issue| Refusal::Invalid { message: issue.to_string() })?;
    Ok(ApproverKey {
        key_id: key.key.id(),
        approver,
        public_key: key.key,
        reviews,
        created_at: clock::now()?,
        revoked_at: None,
    })
}

record! {
    /// Stops counting a key, also for what it has signed and nobody has used.
    pub struct RevokeKey {
        /// The key.
        key_id: KeyId,
    }
}

impl Endpoint for RevokeKey {
    type Reply = Done;
    const ROUTE: Route = Route::post("/v1/keys/{key_id}/revoke", ADMINS, "Stop counting a key");

    fn ask(self, _: &Caller) -> Result<Asked<Done>, ServiceError> {
        Ok(Asked::change(Command::RevokeKey(self.key_id), done))
    }
}
