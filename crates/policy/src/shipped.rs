//! The documents that ship with the product: a policy to start from and a stricter one, each with its neighbours.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Issue, Json, NonEmpty, Reader, Wire as _};

use crate::{
    AllowDocument, AllowHash, AllowPolicy, Lattice, LatticeDocument, LatticeHash, Policy, PolicyHash, Rule,
    codes,
};

/// A policy with its lattice and its allow policy.
#[derive(Debug, Clone, Copy)]
pub struct Bundle {
    /// `odeu.instructions.v1.json`.
    pub policy: &'static [u8],
    /// `urm.capability.lattice.v1.json`.
    pub lattice: &'static [u8],
    /// `urm.allow.v1.json`.
    pub allow: &'static [u8],
    /// The same as lines, generated from them: a hook reads them before every call, and nothing that was checked before.
    lines: &'static str,
}

/// What a team starts from; also what is in force where nothing else is.
pub const STANDARD: Bundle = Bundle {
    policy: include_bytes!("../../../policy/odeu.instructions.v1.json"),
    lattice: include_bytes!("../../../policy/urm.capability.lattice.v1.json"),
    allow: include_bytes!("../../../policy/urm.allow.v1.json"),
    lines: include_str!("../../../policy/bundle.v1.lines"),
};

/// Where every change needs a person and much is refused outright.
pub const STRICT: Bundle = Bundle {
    policy: include_bytes!("../../../policy/strict/odeu.instructions.v1.json"),
    lattice: include_bytes!("../../../policy/strict/urm.capability.lattice.v1.json"),
    allow: include_bytes!("../../../policy/strict/urm.allow.v1.json"),
    lines: include_str!("../../../policy/strict/bundle.v1.lines"),
};

/// A bundle, loaded.
#[derive(Debug)]
pub struct LoadedBundle {
    /// The rules, without their examples, which held when they were checked.
    pub policy: Policy,
    /// The lattice.
    pub lattice: Lattice,
    /// The allow policy.
    pub allow: AllowPolicy,
}

impl Bundle {
    /// The bundle that these documents are, byte for byte: rules, lattice and allow policy.
    #[must_use]
    pub fn of(documents: [&[u8]; 3]) -> Option<Self> {
        [STANDARD, STRICT].into_iter().find(|bundle| bundle.documents() == documents)
    }

    /// Its documents: rules, lattice and allow policy.
    #[must_use]
    pub const fn documents(&self) -> [&'static [u8]; 3] {
        [self.policy, self.lattice, self.allow]
    }

    /// The bundle as lines: its three hashes, then its rules in order and without their examples, its lattice and its allow
    /// policy, each in canonical JSON.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the first document that has one.
    pub fn to_lines(&self) -> Result<String, NonEmpty<Issue>> {
        let policy = Policy::load(self.policy)?;
        let lattice = Lattice::load(self.lattice)?;
        let allow = AllowPolicy::load(self.allow, &lattice)?;
        let hashes = format!("{} {} {}", policy.hash(), lattice.hash(), allow.hash());
        let rules: Vec<Rule> =
            policy.rules().iter().cloned().map(|rule| Rule { examples: None, ..rule }).collect();
        let lattice: LatticeDocument = Reader::read_document(self.lattice, codes::URM_LATTICE_INVALID)?;
        let allow: AllowDocument = Reader::read_document(self.allow, codes::URM_ALLOW_INVALID)?;
        let lines = [hashes, rules.to_canonical(), lattice.to_canonical(), allow.to_canonical()];
        Ok(format!("{}\n", lines.join("\n")))
    }

    /// Loads the bundle from its lines, which [`Bundle::to_lines`] has checked.
    ///
    /// # Errors
    ///
    /// Fails if they are not those of a bundle, which a test rules out.
    pub fn load(&self) -> Result<LoadedBundle, NonEmpty<Issue>> {
        let family = codes::URM_POLICY_INVALID_SCHEMA;
        let missing = || NonEmpty::of(Issue::new(family, "a shipped bundle has too few lines"));
        let mut lines = self.lines.lines();
        let mut line = || lines.next().ok_or_else(missing);
        let mut hashes = line()?.split(' ');
        let mut hash = || hashes.next().ok_or_else(missing);
        let policy_hash = PolicyHash::parse(hash()?).map_err(NonEmpty::of)?;
        let lattice_hash = LatticeHash::parse(hash()?).map_err(NonEmpty::of)?;
        let allow_hash = AllowHash::parse(hash()?).map_err(NonEmpty::of)?;
        let mut document = || Json::parse(line()?.as_bytes()).map_err(NonEmpty::of);
        let rules: Vec<Rule> = Reader::read_json(&document()?, family)?;
        let lattice: LatticeDocument = Reader::read_json(&document()?, codes::URM_LATTICE_INVALID)?;
        let allow: AllowDocument = Reader::read_json(&document()?, codes::URM_ALLOW_INVALID)?;
        Ok(LoadedBundle {
            policy: Policy::from_checked(rules, policy_hash),
            lattice: Lattice::from_checked(lattice, lattice_hash),
            allow: AllowPolicy::from_checked(allow, allow_hash),
        })
    }
}

#[cfg(test)]
mod tests;
