//! Tests of the rule about headers.

use super::{super::tests::check, RULE};

#[test]
fn a_sentence_is_wanted_on_the_first_line() {
    check(
        &RULE,
        &[
            ("crates/a/src/good.rs", "//! Says what it is for.\n"),
            ("crates/a/src/none.rs", "use std::fmt;\n"),
            ("crates/a/src/late.rs", "\n//! Late.\n"),
            ("crates/a/src/empty.rs", "//!\n//! Late.\n"),
            ("crates/a/src/plain.rs", "// Not a doc comment.\n"),
            ("crates/a/notes.md", "no header\n"),
        ],
        &[
            "crates/a/src/empty.rs:1: does not start with `//!`",
            "crates/a/src/late.rs:1: does not start with `//!`",
            "crates/a/src/none.rs:1: does not start with `//!`",
            "crates/a/src/plain.rs:1: does not start with `//!`",
        ],
    );
}
