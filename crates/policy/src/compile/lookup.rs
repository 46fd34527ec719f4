//! A small hash table from names to numbers. Its order never shows: it only answers questions.

use alloc::{boxed::Box, vec, vec::Vec};

/// Names that a policy mentions, numbered from one; zero is every other name.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    names: Vec<(NameKey, Box<str>)>,
    // INVARIANT: empty, or a power of two in length with seven slots of eight empty; holds numbers, zero where empty.
    slots: Vec<u16>,
}

/// What a name is found by, gathered sixteen bytes at a time; the last ones are filled up with zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NameKey {
    hash: u64,
    /// The first sixteen bytes: the whole name, mostly, so that no bytes need comparing.
    head: u128,
    length: usize,
}

impl NameKey {
    pub(super) const START: Self = Self { hash: 0x9E37_79B9_7F4A_7C15, head: 0, length: 0 };

    /// The key after `bytes` more bytes, the first of them the lowest.
    #[must_use]
    #[inline]
    pub(super) fn with(self, chunk: u128, bytes: usize) -> Self {
        let half = |chunk: u128| u64::try_from(chunk & u128::from(u64::MAX)).unwrap_or(0);
        let mixed = self.hash ^ half(chunk) ^ half(chunk >> 64).rotate_left(17);
        // A product's bits hang only on lower ones: the upper bytes are folded in first.
        let hash = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        let head = if self.length == 0 { chunk } else { self.head };
        Self { hash, head, length: self.length.saturating_add(bytes) }
    }

    fn of(name: &str) -> Self {
        let (chunks, rest) = name.as_bytes().as_chunks::<16>();
        let key = chunks.iter().fold(Self::START, |key, chunk| key.with(u128::from_le_bytes(*chunk), 16));
        key.with(packed(rest), rest.len())
    }

    /// Whether the name is this word.
    pub(super) const fn is(&self, word: ShortWord) -> bool {
        self.head == word.head && self.length == word.length
    }

    /// The length of the name.
    pub(super) const fn length(&self) -> usize {
        self.length
    }

    /// The first sixteen bytes as a number that orders as names do.
    pub(super) const fn lead(&self) -> u128 {
        self.head.swap_bytes()
    }

    /// Where to look first, in a table with this many slots.
    fn slot(&self, mask: usize) -> usize {
        usize::try_from(self.hash >> 40).unwrap_or(0) & mask
    }
}

/// A word of at most sixteen bytes, made while compiling.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShortWord {
    head: u128,
    length: usize,
}

impl ShortWord {
    pub(super) const fn of(word: &str) -> Self {
        assert!(word.len() <= 16, "a longer word would be met by its beginning alone");
        Self { head: packed(word.as_bytes()), length: word.len() }
    }
}

/// Up to sixteen bytes as one number, the first of them the lowest.
pub(super) const fn packed(mut bytes: &[u8]) -> u128 {
    let mut number = 0_u128;
    while let [before @ .., last] = bytes {
        number = number << 8 | widened(*last);
        bytes = before;
    }
    number
}

#[expect(clippy::as_conversions, reason = "`From` is not const; a byte always fits")]
const fn widened(byte: u8) -> u128 {
    byte as u128
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
        self.names.push((NameKey::of(name), name.into()));
        if self.names.len().saturating_mul(8) > self.slots.len() {
            self.slots = vec![0; self.names.len().saturating_mul(16).next_power_of_two()];
            for number in 1..=self.names.len() {
                self.enter(number);
            }
        } else {
            self.enter(self.names.len());
        }
    }

    fn enter(&mut self, number: usize) {
        let mask = self.slots.len().saturating_sub(1);
        let Some((key, _)) = number.checked_sub(1).and_then(|index| self.names.get(index)) else { return };
        let mut slot = key.slot(mask);
        // Ends: most slots are empty.
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
        self.find_keyed(name.as_bytes(), &NameKey::of(name))
    }

    /// As [`Lookup::find`], with the key at hand.
    #[inline]
    pub(super) fn find_keyed(&self, name: &[u8], key: &NameKey) -> u16 {
        let mask = self.slots.len().saturating_sub(1);
        let mut slot = key.slot(mask);
        // Ends: most slots are empty, and an empty table has none.
        while let Some(&number) = self.slots.get(slot) {
            let Some(index) = usize::from(number).checked_sub(1) else { return 0 };
            if let Some((there, text)) = self.names.get(index)
                && there == key
                && (key.length <= 16 || text.as_bytes() == name)
            {
                return number;
            }
            slot = slot.wrapping_add(1) & mask;
        }
        0
    }
}
