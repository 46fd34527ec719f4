//! What an admin sets up: keys, tokens, policies; and what time ends.

use countersign_canon::{Json, Sha256};
use countersign_ledger::{
    Access, Activation, ApproverKey, KeyId, KeyName, NoteKey, Principal, SecretKey, Token, VersionNumber,
};
use countersign_policy::{NameSet, Role};
use countersign_store::{Command, PolicyDocuments, Refusal, Reply, Swept, fresh_secret};

use crate::{
    Caller, Node, ServiceError,
    api::approver_key,
    clock,
    node::{activation_of, shipped_documents, unexpected},
};

impl Node {
    /// Registers an approver's key: its name is the approver's.
    ///
    /// # Errors
    ///
    /// Fails if its name is not a principal's, if there is one under its id already, or the caller may not.
    pub fn add_key(
        &self,
        caller: &Caller,
        key: &NoteKey,
        reviews: NameSet<Role>,
    ) -> Result<ApproverKey, ServiceError> {
        let key = approver_key(key, reviews)?;
        self.call(caller, "/v1/keys", Command::AddKey(Box::new(key.clone())))?;
        Ok(key)
    }

    /// Stops counting a key.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or the caller may not.
    pub fn revoke_key(&self, caller: &Caller, id: &KeyId) -> Result<(), ServiceError> {
        self.call(caller, "/v1/keys/revoke", Command::RevokeKey(id.clone())).map(|_| ())
    }

    /// Makes a token and gives its secret text, which nobody can give again.
    ///
    /// # Errors
    ///
    /// Fails if there is one of this name already, or the caller may not.
    pub fn create_token(
        &self,
        caller: &Caller,
        name: &Principal,
        access: Access,
    ) -> Result<String, ServiceError> {
        let secret = fresh_secret()?;
        let token = Token {
            token_hash: Token::hash_of(&secret),
            name: name.clone(),
            access,
            created_at: clock::now()?,
            revoked_at: None,
        };
        self.call(caller, "/v1/tokens", Command::AddToken(token))?;
        Ok(secret)
    }

    /// Stops counting a token.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or the caller may not.
    pub fn revoke_token(&self, caller: &Caller, name: &Principal) -> Result<(), ServiceError> {
        self.call(caller, "/v1/tokens/revoke", Command::RevokeToken(name.clone())).map(|_| ())
    }

    /// Puts a policy version in force.
    ///
    /// # Errors
    ///
    /// Fails if one of its documents is wrong, or the caller may not.
    pub fn activate(&self, caller: &Caller, documents: PolicyDocuments) -> Result<Activation, ServiceError> {
        activation_of(self.call(caller, "/v1/policy/activate", Command::Activate(Box::new(documents)))?)
    }

    /// Puts the policy that ships in force.
    ///
    /// # Errors
    ///
    /// Fails if the caller may not, or the store cannot say.
    pub fn activate_shipped(&self, caller: &Caller) -> Result<Activation, ServiceError> {
        self.activate(caller, shipped_documents()?)
    }

    /// Puts an earlier policy version back in force.
    ///
    /// # Errors
    ///
    /// Fails if there is none of this number, or the caller may not.
    pub fn roll_back(&self, caller: &Caller, version: VersionNumber) -> Result<Activation, ServiceError> {
        activation_of(self.call(caller, "/v1/policy/rollback", Command::RollBack(version))?)
    }

    /// Notes which approvals have expired and which executions are in doubt.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot say.
    pub fn sweep(&self, caller: &Caller) -> Result<Swept, ServiceError> {
        let reply = self.call(caller, "/v1/sweep", Command::Sweep)?.reply;
        let Reply::Swept(swept) = reply else { return Err(unexpected(&reply)) };
        Ok(swept)
    }
}

/// Makes a private key of 256 random bits under this name.
///
/// # Errors
///
/// Fails if the system has no randomness to give.
pub fn generate_key(name: KeyName) -> Result<SecretKey, ServiceError> {
    let random = Sha256::of(fresh_secret()?.as_bytes());
    Ok(SecretKey::from_seed(name, random.as_bytes()))
}

/// A policy version's three documents from their bytes.
///
/// # Errors
///
/// Fails if one of them is not JSON.
pub fn policy_documents(
    policy: &[u8],
    lattice: &[u8],
    allow: &[u8],
) -> Result<PolicyDocuments, ServiceError> {
    let parse = |name: &str, bytes: &[u8]| {
        let refused = |issue| Refusal::Invalid { message: format!("{name}: {issue}") };
        Json::parse(bytes).map(Json::into_owned).map_err(refused)
    };
    Ok(PolicyDocuments {
        policy: parse("the policy", policy)?,
        lattice: parse("the lattice", lattice)?,
        allow: parse("the allow policy", allow)?,
    })
}
