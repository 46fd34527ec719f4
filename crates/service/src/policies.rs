//! The policy folder: what comes into force at the start, and what can be put in force later.

use std::{
    path::Path,
    sync::{Arc, PoisonError},
};

use countersign_canon::Json;
use countersign_ledger::{Activation, EventKind, PolicyVersion, StreamId, detail};
use countersign_policy::{
    AllowPolicy, Lattice, Policy, PolicyHash,
    shipped::{self, Bundle},
};
use countersign_store::{PolicyDocuments, Refusal};

use crate::{Caller, Node, ServiceError, admin::policy_documents, files, note::Note};

/// The files of a policy folder: rules, lattice and allow policy.
pub const POLICY_FILES: [&str; 3] =
    ["odeu.instructions.v1.json", "urm.capability.lattice.v1.json", "urm.allow.v1.json"];

/// The three documents in a folder.
#[derive(Debug, Clone)]
pub(crate) enum Folder {
    /// Those of a bundle that ships.
    Shipped(Bundle),
    /// Others: their bytes.
    Own(Arc<[Vec<u8>; 3]>),
}

impl Folder {
    /// The bytes of rules, lattice and allow policy.
    fn documents(&self) -> [&[u8]; 3] {
        match self {
            Self::Shipped(bundle) => bundle.documents(),
            Self::Own(documents) => documents.each_ref().map(Vec::as_slice),
        }
    }
}

/// Reads the documents in a folder; nothing if it has no rules. What ships is compared with them first: most folders hold it.
fn read(folder: &Path) -> Result<Option<Folder>, ServiceError> {
    let unreadable = |name: &str, what: String| Refusal::Invalid {
        message: format!("`{}` could not be read: {what}", folder.join(name).display()),
    };
    let file =
        |name: &str| files::read(&folder.join(name)).map_err(|error| unreadable(name, error.to_string()));
    let is_shipped = |bundle: &Bundle| {
        let mut files = POLICY_FILES.iter().zip(bundle.documents());
        files.all(|(name, bytes)| files::holds(&folder.join(name), bytes).unwrap_or_default())
    };
    if let Some(bundle) = shipped::BUNDLES.into_iter().find(is_shipped) {
        return Ok(Some(Folder::Shipped(bundle)));
    }
    let [policy, lattice, allow] = POLICY_FILES;
    let Some(rules) = file(policy)? else { return Ok(None) };
    let needed = |name: &str| file(name)?.ok_or_else(|| unreadable(name, "it is not there".to_owned()));
    Ok(Some(Folder::Own(Arc::new([rules, needed(lattice)?, needed(allow)?]))))
}

impl Node {
    /// Sees to it that a policy is in force, and notes what is wrong with the policy folder.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot say.
    pub fn look_at_policies(&self) -> Result<(), ServiceError> {
        let caller = Caller::owner("service")?;
        let is_new = self.store().version_in_force()?.is_none();
        let fault = match self.local_documents() {
            Ok(None) if is_new => self.activate_shipped(&caller).map(|_| None)?,
            Ok(Some(documents)) if is_new => self.activate(&caller, documents).err(),
            Ok(_) => None,
            Err(error) => Some(error),
        };
        self.note_policy_fault(fault.as_ref().map(ToString::to_string));
        // Nothing is half loaded: what was in force stays, and the log says why.
        fault.map_or(Ok(()), |fault| self.tell_of_failure(&caller, &fault))
    }

    /// Checks that the policy folder holds what is in force: until a person has put a changed policy in force, nothing is
    /// decided for an agent, so that one gains nothing by changing it. Where there is no folder, the store counts, which has
    /// the built-in policy unless a person chose another.
    ///
    /// # Errors
    ///
    /// Fails with what is wrong with the folder's policy, or that it is another one; and if the store cannot say.
    pub fn check_policies(&self) -> Result<(), ServiceError> {
        let Some(documents) = read(self.policy_folder())? else {
            let is_shipped = self.store().is_in_force(shipped::STANDARD.documents())?.is_some();
            return if is_shipped { Ok(()) } else { self.look_at_policies() };
        };
        if self.are_in_force(&documents)? {
            return Ok(());
        }
        self.look_at_policies()?;
        if self.are_in_force(&documents)? {
            return Ok(());
        }
        let [policy, lattice, allow] = documents.documents();
        Policy::load(policy).map_err(ServiceError::Document)?;
        let lattice = Lattice::load(lattice).map_err(ServiceError::Document)?;
        AllowPolicy::load(allow, &lattice).map_err(ServiceError::Document)?;
        Err(ServiceError::PolicyChanged { folder: self.policy_folder().to_path_buf() })
    }

    /// Whether these documents are in force; they are looked at once for as long as neither they nor what is in force changes.
    fn are_in_force(&self, documents: &Folder) -> Result<bool, ServiceError> {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, version)) = checked.as_ref()
            && known.documents() == documents.documents()
            && self.store().number_in_force()? == Some(*version)
        {
            return Ok(true);
        }
        let found = self.store().is_in_force(documents.documents())?;
        *checked = found.map(|version| (documents.clone(), version));
        Ok(found.is_some())
    }

    /// The three documents of the policy folder, checked; nothing if there are none.
    fn local_documents(&self) -> Result<Option<PolicyDocuments>, ServiceError> {
        let Some(folder) = read(self.policy_folder())? else { return Ok(None) };
        let [policy, lattice, allow] = folder.documents();
        let documents = policy_documents(policy, lattice, allow)?;
        let refused = |message: String| Refusal::Invalid { message };
        Policy::load(policy).map_err(|issues| {
            let first = issues.first().map(|issue| format!("{} {}: {issue}", issue.code, issue.pointer));
            refused(first.unwrap_or_default())
        })?;
        Ok(Some(documents))
    }

    /// Puts the policy with this hash in force, from the policy folder or from the history; whatever is in the folder
    /// if no hash is given.
    ///
    /// # Errors
    ///
    /// Fails if no policy has this hash, if the folder's is wrong, or the caller may not.
    pub fn activate_local(
        &self,
        caller: &Caller,
        hash: Option<&PolicyHash>,
    ) -> Result<Activation, ServiceError> {
        if let Some(known) = hash.map_or(Ok(None), |hash| self.in_history(hash))? {
            return self.roll_back(caller, known.version);
        }
        let documents = self.local_documents()?;
        let is_it = |documents: &PolicyDocuments| {
            let found =
                Policy::load(documents.policy.to_canonical().as_bytes()).ok().map(|policy| *policy.hash());
            hash.is_none_or(|hash| found.as_ref() == Some(hash))
        };
        let folder = self.policy_folder().display().to_string();
        let id = hash.map_or(folder, ToString::to_string);
        let documents = documents.filter(is_it).ok_or(Refusal::NotFound { what: "policy", id })?;
        let activation = self.activate(caller, documents)?;
        self.note_policy_fault(None);
        Ok(activation)
    }

    fn in_history(&self, hash: &PolicyHash) -> Result<Option<PolicyVersion>, ServiceError> {
        let versions = self.store().policy_versions()?;
        Ok(versions.into_iter().rfind(|version| version.policy_hash == *hash))
    }

    fn tell_of_failure(&self, caller: &Caller, fault: &ServiceError) -> Result<(), ServiceError> {
        let members = [("code", Json::from(fault.code())), ("message", Json::from(fault.to_string()))];
        let note = Note {
            event: EventKind::PolicyLoadFailed,
            stream_id: StreamId::policy(),
            run: None,
            ir_hash: None,
            detail: detail(members),
        };
        self.append(caller, "/v1/policy", note).map(drop)
    }
}
