//! How a declared object is spelled: its keys are put in order when it is compiled, not when it is written.

use alloc::string::String;

use crate::Wire;

/// Where the keys stand in canonical order: the place of the first, of the second, and so on.
///
/// # Panics
///
/// When compiled, if a key is not plain ASCII: then its order and its spelling would be more than its bytes.
#[doc(hidden)]
#[must_use]
#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs in the compiler alone")]
pub const fn key_order<const N: usize>(keys: &[&str]) -> [usize; N] {
    let mut order = [0; N];
    let mut sorted = 0;
    while sorted < N {
        assert!(is_plain(keys[sorted].as_bytes()), "a declared key is plain ASCII");
        let mut at = sorted;
        while at > 0 && is_before(keys[sorted].as_bytes(), keys[order[at - 1]].as_bytes()) {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = sorted;
        sorted += 1;
    }
    order
}

#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs in the compiler alone")]
const fn is_before(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

#[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs in the compiler alone")]
const fn is_plain(key: &[u8]) -> bool {
    let mut at = 0;
    while at < key.len() {
        if !matches!(key[at], b' '..=b'~') || matches!(key[at], b'"' | b'\\') {
            return false;
        }
        at += 1;
    }
    true
}

/// An object that is being spelled, member by member.
#[doc(hidden)]
#[derive(Debug)]
pub struct ObjectSpelling<'o> {
    out: &'o mut String,
    is_empty: bool,
}

impl<'o> ObjectSpelling<'o> {
    /// Begins an object.
    pub fn begin(out: &'o mut String) -> Self {
        out.push('{');
        Self { out, is_empty: true }
    }

    /// Appends a member under a plain key, unless its value is one to leave out.
    pub fn member(&mut self, key: &str, value: &impl Wire) {
        if value.is_left_out() {
            return;
        }
        self.out.push_str(if self.is_empty { "\"" } else { ",\"" });
        self.out.push_str(key);
        self.out.push_str("\":");
        value.spell(self.out);
        self.is_empty = false;
    }

    /// Ends it.
    pub fn end(self) {
        self.out.push('}');
    }
}
