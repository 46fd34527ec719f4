//! Tests of the rule about leftovers.

use super::{super::tests::check, RULE};

#[test]
fn every_word_is_refused_in_code() {
    let text = [
        concat!("// TO", "DO: later"),
        concat!("// FIX", "ME"),
        concat!("todo", "!()"),
        concat!("unimplemented", "!()"),
        concat!("#[", "ignore]"),
        concat!("#[should_", "panic]"),
    ];
    let expected = [
        concat!("crates/a/src/a.rs:1: has `TO", "DO`"),
        concat!("crates/a/src/a.rs:2: has `FIX", "ME`"),
        concat!("crates/a/src/a.rs:3: has `todo", "!(`"),
        concat!("crates/a/src/a.rs:4: has `unimplemented", "!(`"),
        concat!("crates/a/src/a.rs:5: has `#[", "ignore`"),
        concat!("crates/a/src/a.rs:6: has `should_", "panic`"),
    ];
    check(&RULE, &[("crates/a/src/a.rs", &text.join("\n"))], &expected);
}

#[test]
fn prose_and_corpora_may_speak_of_them() {
    let text = concat!("TO", "DO");
    check(&RULE, &[("docs/a.md", text), ("corpus/scan/a.yml", text)], &[]);
    check(&RULE, &[("test", text)], &[concat!("test:1: has `TO", "DO`")]);
}
