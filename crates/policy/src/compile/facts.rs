//! The answers of one context, in the form that the compiled policy asks for them.

use crate::{EvidenceKind, Mode, Warrant};

/// LIMIT: 2000 nodes in a policy name at most as many capabilities.
pub(super) const CAPABILITY_WORDS: usize = 32;

pub(super) const SESSION_ACTIVE: u8 = 0;
pub(super) const APPROVAL_PRESENT: u8 = 1;
pub(super) const APPROVAL_VALID: u8 = 2;
pub(super) const APPROVAL_UNEXPIRED: u8 = 3;
pub(super) const APPROVAL_UNUSED: u8 = 4;
const APPROVAL_AVAILABLE: u8 = 0b1_1110;

/// What a context answers. Names count from one; zero is a name that the policy does not mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(super) role: u16,
    pub(super) kind: u16,
    pub(super) hash: u16,
    pub(super) mode: u8,
    pub(super) warrant: u8,
    pub(super) switches: u8,
    pub(super) evidence: u8,
    pub(super) present: [u64; CAPABILITY_WORDS],
    pub(super) allowed: [u64; CAPABILITY_WORDS],
}

/// Where a context keeps the answer to an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Role(u16),
    Kind(u16),
    Hash(u16),
    Mode(u8),
    Warrant(u8),
    Switch(u8),
    Evidence(u8),
    Present(u16),
    Allowed(u16),
}

impl Facts {
    /// No answers yet: everything absent or false.
    pub(crate) const BLANK: Self = Self {
        role: 0,
        kind: 0,
        hash: 0,
        mode: 0,
        warrant: 0,
        switches: 0,
        evidence: 0,
        present: [0; CAPABILITY_WORDS],
        allowed: [0; CAPABILITY_WORDS],
    };

    pub(super) fn switch(&mut self, bit: u8, truth: bool) {
        self.switches |= u8::from(truth) << (bit & 7);
    }

    pub(super) fn add_evidence(&mut self, kind: EvidenceKind) {
        self.evidence |= 1 << (evidence_bit(kind) & 7);
    }

    /// Enters a capability by its number, which counts from one.
    pub(super) fn add_capability(words: &mut [u64; CAPABILITY_WORDS], number: u16) {
        let Some(index) = number.checked_sub(1) else { return };
        if let Some(word) = words.get_mut(usize::from(index >> 6)) {
            *word |= 1_u64.unbounded_shl(u32::from(index & 63));
        }
    }

    /// Whether a valid approval is available (K1.4).
    pub(crate) const fn approval_is_available(&self) -> bool {
        self.switches & APPROVAL_AVAILABLE == APPROVAL_AVAILABLE
    }

    pub(super) fn holds(&self, place: Place) -> bool {
        let has = |words: &[u64; CAPABILITY_WORDS], number: u16| {
            let index = number.saturating_sub(1);
            words
                .get(usize::from(index >> 6))
                .is_some_and(|word| word & 1_u64.unbounded_shl(u32::from(index & 63)) != 0)
        };
        match place {
            Place::Role(role) => self.role == role,
            Place::Kind(kind) => self.kind == kind,
            Place::Hash(hash) => self.hash == hash,
            Place::Mode(mode) => self.mode == mode,
            Place::Warrant(warrant) => self.warrant == warrant,
            Place::Switch(bit) => self.switches >> (bit & 7) & 1 == 1,
            Place::Evidence(bit) => self.evidence >> (bit & 7) & 1 == 1,
            Place::Present(number) => has(&self.present, number),
            Place::Allowed(number) => has(&self.allowed, number),
        }
    }
}

pub(super) const fn mode_row(mode: Mode) -> u8 {
    match mode {
        Mode::ReadOnly => 0,
        Mode::WritesAllowed => 1,
    }
}

pub(super) const fn warrant_row(warrant: Option<Warrant>) -> u8 {
    match warrant {
        None => 0,
        Some(Warrant::Observed) => 1,
        Some(Warrant::Derived) => 2,
        Some(Warrant::Checked) => 3,
        Some(Warrant::Hypothesis) => 4,
        Some(Warrant::Unknown) => 5,
    }
}

pub(super) const fn evidence_bit(kind: EvidenceKind) -> u8 {
    match kind {
        EvidenceKind::Artifact => 0,
        EvidenceKind::Event => 1,
        EvidenceKind::Proof => 2,
        EvidenceKind::Run => 3,
        EvidenceKind::Validator => 4,
    }
}
