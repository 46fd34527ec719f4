//! How a declared object is spelled: its keys are put in order when it is compiled, not when it is written.

use alloc::string::String;

use crate::Wire;

/// A value of any document type, to be spelled.
#[doc(hidden)]
pub trait Spelled {
    /// See [`Wire::spell`].
    fn spell(&self, out: &mut String);
    /// See [`Wire::is_left_out`].
    fn is_left_out(&self) -> bool;
}

impl<T: Wire> Spelled for T {
    fn spell(&self, out: &mut String) {
        Wire::spell(self, out);
    }

    fn is_left_out(&self) -> bool {
        Wire::is_left_out(self)
    }
}

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

/// Appends an object of these members, in this order.
#[doc(hidden)]
pub fn spell_members(keys: &[&str], values: &[&dyn Spelled], order: &[usize], out: &mut String) {
    out.push('{');
    let mut is_first = true;
    for place in order {
        let (Some(key), Some(value)) = (keys.get(*place), values.get(*place)) else { continue };
        if value.is_left_out() {
            continue;
        }
        out.push_str(if is_first { "\"" } else { ",\"" });
        out.push_str(key);
        out.push_str("\":");
        value.spell(out);
        is_first = false;
    }
    out.push('}');
}
