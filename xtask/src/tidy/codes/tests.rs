//! Tests of the rule about codes.

use super::{super::tests::check, RULE};

const DECLARES: &str = "//! x\npub mod codes {\n    countersign_canon::declare_codes! {\n        /// Shut.\n        DOOR_SHUT\n    }\n}\n";

#[test]
fn a_code_is_declared_once_and_listed() {
    let table = "| code | meaning |\n| `DOOR_SHUT` | Shut. |\n";
    check(&RULE, &[("docs/generated/codes.md", table), ("crates/a/src/code.rs", DECLARES)], &[]);
    check(
        &RULE,
        &[
            ("docs/generated/codes.md", table),
            ("crates/a/src/code.rs", DECLARES),
            ("crates/b/src/code.rs", DECLARES),
        ],
        &["crates/b/src/code.rs:5: declares `DOOR_SHUT`, as crates/a/src/code.rs:5 does"],
    );
    check(
        &RULE,
        &[("crates/a/src/code.rs", DECLARES)],
        &["crates/a/src/code.rs:5: docs/generated/codes.md lacks `DOOR_SHUT` (1 of this file): \
           list the crate in xtask's codegen, then run it"],
    );
}

#[test]
fn the_macro_and_its_examples_declare_nothing() {
    let text = "//! x\n/// countersign_canon::declare_codes! {\n///     DOOR_SHUT\n/// }\nmacro_rules! declare_codes {\n    () => {}\n}\n";
    check(&RULE, &[("crates/canon/src/code.rs", text)], &[]);
}
