//! What a theorem is about: documents, as they are written and as they are loaded.

use countersign_canon::{Issue, Json, NonEmpty, Object, Value, record};
use countersign_policy::{AllowPolicy, InForce, Lattice, Policy};

record! {
    /// The documents that a theorem is about.
    pub struct Documents {
        /// The policy.
        policy: Object<'static>,
        /// The lattice beside it.
        lattice: Object<'static>,
        /// The allow policy beside it.
        allow: Object<'static>,
        /// The policy that it is compared with, if it is.
        other: Option<Object<'static>>,
    }
}

/// The documents, loaded.
#[derive(Debug)]
pub struct Subject {
    // INVARIANT: what follows is what these say.
    documents: Documents,
    policy: Policy,
    lattice: Lattice,
    allow: AllowPolicy,
    other: Option<Policy>,
}

impl Subject {
    /// Loads the documents.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the first document that has one.
    pub fn load(documents: Documents) -> Result<Self, NonEmpty<Issue>> {
        let policy = Policy::load_json(&json(&documents.policy))?;
        let lattice = Lattice::load(json(&documents.lattice).to_canonical().as_bytes())?;
        let allow = AllowPolicy::load(json(&documents.allow).to_canonical().as_bytes(), &lattice)?;
        let other = documents.other.as_ref().map(|other| Policy::load_json(&json(other))).transpose()?;
        Ok(Self { documents, policy, lattice, allow, other })
    }

    /// The documents as they are written.
    #[must_use]
    pub const fn documents(&self) -> &Documents {
        &self.documents
    }

    /// The documents as the kernel takes them.
    #[must_use]
    pub const fn in_force(&self) -> InForce<'_> {
        InForce { policy: &self.policy, lattice: &self.lattice, allow: &self.allow }
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The policy that it is compared with.
    #[must_use]
    pub const fn other(&self) -> Option<&Policy> {
        self.other.as_ref()
    }
}

fn json(object: &Object<'static>) -> Json<'static> {
    Json::from(Value::Object(object.clone()))
}
