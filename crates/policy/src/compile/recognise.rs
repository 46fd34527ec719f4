//! The fast way in: reads a context's facts straight from bytes, if the bytes are canonical.
//!
//! Whatever this does not recognise, for whatever reason, goes the slow way through the parser, which also says what
//! is wrong. What it does recognise is exactly the canonical spelling of a valid context, so that the bytes
//! themselves can be hashed. Both are tested on random and on damaged contexts.

use countersign_canon::Timestamp;

use super::{
    Compiled, Facts,
    facts::{self, CAPABILITY_WORDS},
    lookup::{Lookup, NameKey, ShortWord, packed},
};
use crate::{EvidenceKind, Mode, Warrant, names::NAMES_MAX};

impl Compiled {
    /// Fills in the facts of a canonical context; nothing, and half of them, if the bytes are not one.
    pub(crate) fn recognise(&self, bytes: &[u8], facts: &mut Facts) -> Option<()> {
        let mut cursor = Cursor { rest: bytes };
        cursor.literal(b"{\"action_hash\":\"")?;
        facts.hash = cursor.hash(&self.hashes)?;
        cursor.literal(b",\"action_kind\":\"")?;
        facts.kind = cursor.name(&self.kinds)?;
        cursor.literal(b",\"approval_present\":")?;
        facts.switch(facts::APPROVAL_PRESENT, cursor.truth()?);
        cursor.literal(b",\"approval_unexpired\":")?;
        facts.switch(facts::APPROVAL_UNEXPIRED, cursor.truth()?);
        cursor.literal(b",\"approval_unused\":")?;
        facts.switch(facts::APPROVAL_UNUSED, cursor.truth()?);
        cursor.literal(b",\"approval_valid\":")?;
        facts.switch(facts::APPROVAL_VALID, cursor.truth()?);
        cursor.literal(b",\"capabilities_allowed\":[")?;
        cursor.capabilities(&self.allowed, &mut facts.allowed)?;
        cursor.literal(b",\"capabilities_present\":[")?;
        cursor.capabilities(&self.present, &mut facts.present)?;
        cursor.literal(b",\"evaluation_ts\":\"")?;
        cursor.time()?;
        cursor.literal(b",\"evidence_kinds\":[")?;
        cursor.evidence(facts)?;
        cursor.literal(b",\"mode\":\"")?;
        facts.mode = facts::mode_row(cursor.word(&MODES)?);
        cursor.literal(b",\"role\":")?;
        if !cursor.null() {
            cursor.literal(b"\"")?;
            facts.role = cursor.name(&self.roles)?;
        }
        cursor.literal(b",\"session_active\":")?;
        facts.switch(facts::SESSION_ACTIVE, cursor.truth()?);
        cursor.literal(b",\"warrant\":")?;
        if !cursor.null() {
            cursor.literal(b"\"")?;
            facts.warrant = facts::warrant_row(Some(cursor.word(&WARRANTS)?));
        }
        cursor.literal(b"}")?;
        cursor.rest.is_empty().then_some(())
    }
}

/// A closed vocabulary in the form in which its words are met.
macro_rules! vocabulary {
    ($name:ident: $choice:ident { $($word:ident),+ }) => {
        const $name: [(ShortWord, $choice); $choice::ALL.len()] =
            [$((ShortWord::of($choice::$word.as_str()), $choice::$word)),+];
    };
}

vocabulary! { MODES: Mode { ReadOnly, WritesAllowed } }
vocabulary! { WARRANTS: Warrant { Observed, Derived, Checked, Hypothesis, Unknown } }
vocabulary! { EVIDENCE_KINDS: EvidenceKind { Artifact, Event, Proof, Run, Validator } }

/// What is left to read.
struct Cursor<'b> {
    rest: &'b [u8],
}

impl<'b> Cursor<'b> {
    #[inline]
    fn literal(&mut self, text: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    fn truth(&mut self) -> Option<bool> {
        let truth = self.rest.first() == Some(&b't');
        self.literal(if truth { b"true" } else { b"false" })?;
        Some(truth)
    }

    fn null(&mut self) -> bool {
        self.literal(b"null").is_some()
    }

    /// A word of a closed vocabulary, and its closing quote.
    #[inline]
    fn word<T: Copy>(&mut self, words: &[(ShortWord, T)]) -> Option<T> {
        let (_, key) = self.quoted()?;
        words.iter().find(|(word, _)| key.is(*word)).map(|(_, meaning)| *meaning)
    }

    /// A name and its closing quote; the name's number in the table.
    fn name(&mut self, lookup: &Lookup) -> Option<u16> {
        let (name, key) = self.quoted()?;
        let number = lookup.find_keyed(name, &key);
        // A name that the policy mentions has the shape of a name.
        (number != 0 || is_name(name)).then_some(number)
    }

    /// Everything up to the closing quote, which is passed.
    #[inline(always)]
    fn quoted(&mut self) -> Option<(&'b [u8], NameKey)> {
        const ONES: u128 = u128::from_le_bytes([0x01; 16]);
        const HIGH: u128 = u128::from_le_bytes([0x80; 16]);
        const QUOTES: u128 = u128::from_le_bytes([b'"'; 16]);
        let mut key = NameKey::START;
        let mut ahead = self.rest;
        loop {
            let (chunk, after) = match ahead.split_first_chunk::<16>() {
                Some((chunk, after)) => (u128::from_le_bytes(*chunk), after),
                None => (packed(ahead), [].as_slice()),
            };
            let differs = chunk ^ QUOTES;
            let quotes = differs.wrapping_sub(ONES) & !differs & HIGH;
            if quotes == 0 {
                if after.is_empty() {
                    return None;
                }
                key = key.with(chunk, 16);
                ahead = after;
                continue;
            }
            // The lowest mark is exact: borrows only go upwards.
            let bits = quotes.trailing_zeros() & !7;
            key = key.with(chunk & !u128::MAX.unbounded_shl(bits), usize::try_from(bits >> 3).unwrap_or(0));
            break;
        }
        let (text, after) = self.rest.split_at_checked(key.length())?;
        self.rest = after.get(1..)?;
        Some((text, key))
    }

    /// A digest and its closing quote.
    fn hash(&mut self, lookup: &Lookup) -> Option<u16> {
        let (digits, after) = self.rest.split_first_chunk::<64>()?;
        let is_digit = |digit: &u8| digit.is_ascii_digit() | (b'a'..=b'f').contains(digit);
        if !digits.iter().fold(true, |all, digit| all & is_digit(digit)) {
            return None;
        }
        if lookup.is_empty() {
            self.rest = after.strip_prefix(b"\"")?;
            return Some(0);
        }
        self.name_unchecked(lookup)
    }

    /// As a name, but without the shape of one.
    fn name_unchecked(&mut self, lookup: &Lookup) -> Option<u16> {
        let (digits, after) = self.rest.split_first_chunk::<64>()?;
        self.rest = after.strip_prefix(b"\"")?;
        Some(lookup.find(core::str::from_utf8(digits).ok()?))
    }

    /// The elements of a sorted list of names, after its `[`.
    fn capabilities(&mut self, lookup: &Lookup, words: &mut [u64; CAPABILITY_WORDS]) -> Option<()> {
        if self.literal(b"]").is_some() {
            return Some(());
        }
        let list = self.rest;
        let mut previous = (0_u128, [].as_slice());
        // A policy that mentions many names leaves few to look at one by one; of one that mentions few, the whole list.
        let most_are_known = lookup.len() >= MANY_NAMES;
        let mut are_known = true;
        for _ in 0..NAMES_MAX {
            self.literal(b"\"")?;
            let (name, key) = self.quoted()?;
            // Where the first sixteen bytes differ they settle the order.
            if key.lead() < previous.0 || key.lead() == previous.0 && name <= previous.1 {
                return None;
            }
            let number = lookup.find_keyed(name, &key);
            // A name that the policy mentions has the shape of a name.
            if number == 0 {
                are_known &= most_are_known;
                let fits = if most_are_known { is_name(name) } else { starts_as_name(name) };
                if !fits {
                    return None;
                }
            }
            Facts::add_capability(words, number);
            previous = (key.lead(), name);
            match self.rest.split_first()? {
                (b',', after) => self.rest = after,
                (b']', after) => {
                    let length = list.len().checked_sub(self.rest.len())?;
                    self.rest = after;
                    return (are_known || has_only_names(list.get(..length)?)).then_some(());
                }
                _ => return None,
            }
        }
        None
    }

    /// The elements of a sorted list of kinds of evidence, after its `[`.
    fn evidence(&mut self, facts: &mut Facts) -> Option<()> {
        if self.literal(b"]").is_some() {
            return Some(());
        }
        let mut previous = None;
        loop {
            self.literal(b"\"")?;
            let kind = self.word(&EVIDENCE_KINDS)?;
            // The vocabulary is declared in alphabetical order.
            if previous >= Some(kind) {
                return None;
            }
            previous = Some(kind);
            facts.add_evidence(kind);
            if self.literal(b"]").is_some() {
                return Some(());
            }
            self.literal(b",")?;
        }
    }

    /// An instant and its closing quote.
    fn time(&mut self) -> Option<()> {
        let (text, after) = self.rest.split_first_chunk::<20>()?;
        // Most days exist in every month; only the others need the calendar.
        if !is_plain_instant(text) {
            Timestamp::parse(core::str::from_utf8(text).ok()?).ok()?;
        }
        self.rest = after.strip_prefix(b"\"")?;
        Some(())
    }
}

/// Whether the text is an instant on a day that every month has; no says nothing.
fn is_plain_instant(text: &[u8; 20]) -> bool {
    let [y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T', h1, h2, b':', mi1, mi2, b':', s1, s2, b'Z'] =
        *text
    else {
        return false;
    };
    let are_digits = [y1, y2, y3, y4, mi2, s2].iter().fold(true, |all, digit| all & digit.is_ascii_digit());
    are_digits
        && matches!((mo1, mo2), (b'0', b'1'..=b'9') | (b'1', b'0'..=b'2'))
        && matches!((d1, d2), (b'0', b'1'..=b'9') | (b'1', b'0'..=b'9') | (b'2', b'0'..=b'8'))
        && matches!((h1, h2), (b'0' | b'1', b'0'..=b'9') | (b'2', b'0'..=b'3'))
        && matches!((mi1, s1), (b'0'..=b'5', b'0'..=b'5'))
}

/// With so many names in a policy, most of a context's are among them; a guess, on which only the speed hangs.
const MANY_NAMES: usize = 24;

/// LIMIT: how long a name in a context may be.
const NAME_LENGTH_MAX: usize = 128;

/// Whether the bytes have the shape of the names in a context.
fn is_name(bytes: &[u8]) -> bool {
    starts_as_name(bytes) && bytes.iter().fold(true, |all, byte| all & fits_in_names(*byte))
}

/// Whether the length and the first of the bytes are those of a name.
fn starts_as_name(bytes: &[u8]) -> bool {
    bytes.len() <= NAME_LENGTH_MAX && bytes.first().is_some_and(u8::is_ascii_alphabetic)
}

/// Whether the elements of a list of strings, each of which starts with a letter, have only what may stand in names.
///
/// Most of a context is such lists, and to look at one as a whole is a few instructions for sixteen bytes.
fn has_only_names(list: &[u8]) -> bool {
    let Some((_, bytes)) = list.split_first() else { return true };
    // Every byte beside the one before it; the last sixteen once more, for what is left over.
    let (before, _) = list.as_chunks::<16>();
    let (chunks, rest) = bytes.as_chunks::<16>();
    let last = list.split_last().and_then(|(_, before)| before.last_chunk::<16>()).zip(bytes.last_chunk());
    let fits = |(before, bytes)| fit_in_names(before, bytes);
    before.iter().zip(chunks).all(fits)
        && match last {
            Some(last) => rest.is_empty() || fits(last),
            None => list.iter().zip(bytes).all(|(before, byte)| fits_in_list(*before, *byte)),
        }
}

fn fit_in_names(before: &[u8; 16], bytes: &[u8; 16]) -> bool {
    before.iter().zip(bytes).fold(true, |all, (before, byte)| all & fits_in_list(*before, *byte))
}

/// No name starts with a comma: one behind a quote stands between two names.
#[inline]
const fn fits_in_list(before: u8, byte: u8) -> bool {
    fits_in_names(byte) | (byte == b'"') | ((byte == b',') & (before == b'"'))
}

#[inline]
const fn fits_in_names(byte: u8) -> bool {
    let is_sign_or_digit = byte.wrapping_sub(b'-') < 14;
    let is_at_or_upper = byte.wrapping_sub(b'@') < 27;
    let is_lower = byte.wrapping_sub(b'a') < 26;
    is_sign_or_digit | is_at_or_upper | is_lower | (byte == b'_')
}
