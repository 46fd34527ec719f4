//! Bytes as text: the standard base64 of RFC 4648, padded, with one spelling for each row of bytes.

use alloc::{format, string::String, vec::Vec};

use crate::{Issue, code::codes};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes bytes as base64.
#[must_use]
pub fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let group = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        let digits = [group >> 18, group >> 12, group >> 6, group].map(digit);
        // Two digits for one byte, three for two, four for three.
        let used = chunk.len().saturating_add(1);
        out.extend(digits.into_iter().take(used).chain(core::iter::repeat('=')).take(4));
    }
    out
}

fn digit(group: u32) -> char {
    let index = usize::try_from(group & 0x3F).unwrap_or_default();
    ALPHABET.get(index).copied().map_or('=', char::from)
}

/// Reads base64.
///
/// # Errors
///
/// Fails on any other spelling than [`to_base64`] gives: other alphabets, missing padding, spaces, spare bits.
pub fn from_base64(text: &str) -> Result<Vec<u8>, Issue> {
    let bytes = read(text).filter(|bytes| to_base64(bytes) == text);
    bytes.ok_or_else(|| {
        let shown: String = text.chars().take(80).collect();
        Issue::new(codes::BASE64_SHAPE, format!("`{shown}` is not base64"))
            .with_expected("the standard alphabet, padded with `=`")
    })
}

/// Reads digits and ignores how the text is padded: writing the bytes again shows that.
fn read(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut group, mut bits) = (0_u32, 0_u32);
    for digit in text.trim_end_matches('=').bytes() {
        let value = ALPHABET.iter().position(|&known| known == digit)?;
        group = (group << 6) | u32::try_from(value).ok()?;
        bits = bits.checked_add(6)?;
        if let Some(spare) = bits.checked_sub(8) {
            bytes.push(u8::try_from(group.checked_shr(spare)? & 0xFF).ok()?);
            group &= 1_u32.checked_shl(spare)?.checked_sub(1)?;
            bits = spare;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests;
