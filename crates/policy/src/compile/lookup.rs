//! A small hash table from names to numbers. Its order never shows: it only answers questions.

use alloc::{boxed::Box, vec, vec::Vec};

/// Names that a policy mentions, numbered from one; zero is every other name.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    names: Vec<Box<str>>,
    // INVARIANT: empty, or a power of two in length and at least half empty; holds numbers, zero where empty.
    slots: Vec<u16>,
}

/// A name's hash: eight bytes at a time, the last ones filled up with zeros.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameHash(u64);

impl NameHash {
    pub(super) const START: Self = Self(0x9E37_79B9_7F4A_7C15);

    #[must_use]
    pub(super) const fn with(self, chunk: u64) -> Self {
        Self((self.0 ^ chunk).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(29))
    }

    fn of(name: &str) -> Self {
        let (chunks, rest) = name.as_bytes().as_chunks::<8>();
        let hash = chunks.iter().fold(Self::START, |hash, chunk| hash.with(u64::from_le_bytes(*chunk)));
        let tail = rest.iter().rev().fold(0_u64, |tail, byte| tail << 8 | u64::from(*byte));
        hash.with(tail)
    }

    /// Where to look first, in a table with this many slots.
    fn slot(self, mask: usize) -> usize {
        usize::try_from(self.0 >> 40).unwrap_or(0) & mask
    }
}

impl Lookup {
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Numbers the name, unless it is there.
    pub(super) fn add(&mut self, name: &str) {
        if self.find(name) != 0 {
            return;
        }
        self.names.push(name.into());
        if self.names.len().saturating_mul(2) > self.slots.len() {
            self.slots = vec![0; self.names.len().saturating_mul(4).next_power_of_two()];
            for number in 1..=self.names.len() {
                self.enter(number);
            }
        } else {
            self.enter(self.names.len());
        }
    }

    fn enter(&mut self, number: usize) {
        let mask = self.slots.len().saturating_sub(1);
        let Some(name) = number.checked_sub(1).and_then(|index| self.names.get(index)) else { return };
        let mut slot = NameHash::of(name).slot(mask);
        // Ends: at least half of the slots are empty.
        while let Some(taken) = self.slots.get_mut(slot) {
            if *taken == 0 {
                *taken = u16::try_from(number).unwrap_or(0);
                return;
            }
            slot = slot.wrapping_add(1) & mask;
        }
    }

    /// The name's number; zero if the policy does not mention it.
    pub(super) fn find(&self, name: &str) -> u16 {
        self.find_hashed(name.as_bytes(), NameHash::of(name))
    }

    /// As [`Lookup::find`], with the hash at hand.
    pub(super) fn find_hashed(&self, name: &[u8], hash: NameHash) -> u16 {
        let mask = self.slots.len().saturating_sub(1);
        let mut slot = hash.slot(mask);
        // Ends: at least half of the slots are empty, and an empty table has none.
        while let Some(&number) = self.slots.get(slot) {
            let Some(index) = usize::from(number).checked_sub(1) else { return 0 };
            if self.names.get(index).is_some_and(|there| there.as_bytes() == name) {
                return number;
            }
            slot = slot.wrapping_add(1) & mask;
        }
        0
    }
}
