//! The documents that ship with the product: a policy to start from and a stricter one, each with its neighbours.

/// A policy with its lattice and its allow policy.
#[derive(Debug, Clone, Copy)]
pub struct Bundle {
    /// `odeu.instructions.v1.json`.
    pub policy: &'static [u8],
    /// `urm.capability.lattice.v1.json`.
    pub lattice: &'static [u8],
    /// `urm.allow.v1.json`.
    pub allow: &'static [u8],
}

/// What a team starts from; also what is in force where nothing else is.
pub const STANDARD: Bundle = Bundle {
    policy: include_bytes!("../../../policy/odeu.instructions.v1.json"),
    lattice: include_bytes!("../../../policy/urm.capability.lattice.v1.json"),
    allow: include_bytes!("../../../policy/urm.allow.v1.json"),
};

/// Where every change needs a person and much is refused outright.
pub const STRICT: Bundle = Bundle {
    policy: include_bytes!("../../../policy/strict/odeu.instructions.v1.json"),
    lattice: include_bytes!("../../../policy/strict/urm.capability.lattice.v1.json"),
    allow: include_bytes!("../../../policy/strict/urm.allow.v1.json"),
};
