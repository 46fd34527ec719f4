//! Tests of the rule about signatures.

use super::{super::tests::check, RULE};

#[test]
fn code_in_a_public_signature_is_refused() {
    let text = "//! x\n\
                pub fn one(read: impl Fn(&str) -> u8) {}\n\
                pub fn two(\n    clock: &dyn Clock,\n) -> u8 {\n\
                pub const fn three(f: fn(u8) -> u8) -> u8 {\n\
                pub fn four<F>(f: F)\nwhere\n    F: FnMut(u8),\n{\n\
                pub fn five() -> Box<dyn Iterator> {\n";
    check(
        &RULE,
        &[("crates/policy/src/a.rs", text)],
        &[
            "crates/policy/src/a.rs:11: public function `five` takes or gives `dyn`",
            "crates/policy/src/a.rs:2: public function `one` takes or gives `Fn`",
            "crates/policy/src/a.rs:3: public function `two` takes or gives `dyn`",
            "crates/policy/src/a.rs:6: public function `three` takes or gives `fn`",
            "crates/policy/src/a.rs:7: public function `four` takes or gives `FnMut`",
        ],
    );
}

#[test]
fn data_private_functions_bodies_and_effect_crates_are_fine() {
    let text = "//! x\n\
                /// Takes no `dyn Clock`.\n\
                pub fn one(names: impl Iterator<Item = u8>) -> u8 {\n\
                \x20   apply(|x: &dyn Any| x)\n}\n\
                fn two(f: impl Fn(u8)) {}\n\
                pub(crate) fn three(f: impl Fn(u8)) {}\n";
    let closure = "//! x\npub fn one(f: impl Fn(u8)) {}\n";
    check(&RULE, &[("crates/policy/src/a.rs", text), ("crates/cli/src/a.rs", closure)], &[]);
}
