//! A policy folder: the three documents that come into force together.

use std::path::Path;

use countersign_canon::Issue;
pub(crate) use countersign_service::POLICY_FILES as NAMES;
use countersign_service::{Node, ServiceError};
use countersign_store::PolicyDocuments;

use crate::effects::files;

/// The bytes of rules, lattice and allow policy.
///
/// # Errors
///
/// Fails if one of them cannot be read.
pub(crate) fn read(folder: &Path) -> Result<[Vec<u8>; 3], Issue> {
    let read = |name: &str| files::read(&folder.join(name));
    let [policy, lattice, allow] = NAMES;
    Ok([read(policy)?, read(lattice)?, read(allow)?])
}

/// Whether these documents are the policy version in force.
///
/// # Errors
///
/// Fails if the store cannot say.
pub(crate) fn is_in_force(node: &Node, documents: &PolicyDocuments) -> Result<bool, ServiceError> {
    let Some(activation) = node.store().activations()?.into_iter().next_back() else { return Ok(false) };
    let active = node.store().policy_version(activation.version)?;
    Ok(active.is_some_and(|active| {
        documents.policy.as_object() == Some(&active.policy)
            && documents.lattice.as_object() == Some(&active.lattice)
            && documents.allow.as_object() == Some(&active.allow)
    }))
}
