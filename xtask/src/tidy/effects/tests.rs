//! Tests of the rule about effect files.

use super::{super::tests::check, RULE};

const EFFECT: &str =
    "//! Effect: clock. x\n#![expect(clippy::disallowed_methods, reason = \"Effect: clock\")]\n";
const LIST: &str = "# A\n\n## What may touch the world\n\nText.\n\n- `crates/cli/src/clock.rs`: the clock\n\n## Next\n\n- `crates/x.rs`\n";

#[test]
fn a_marked_and_listed_file_is_fine_and_so_are_tests() {
    let test = "//! x\n#![expect(clippy::disallowed_methods, reason = \"a test\")]\n";
    let files =
        [("ARCHITECTURE.md", LIST), ("crates/cli/src/clock.rs", EFFECT), ("crates/cli/tests/it/a.rs", test)];
    check(&RULE, &files, &[]);
}

#[test]
fn a_file_must_be_marked_listed_and_real() {
    check(
        &RULE,
        &[
            ("ARCHITECTURE.md", LIST),
            ("crates/cli/src/a.rs", "//! x\n\n#[expect(clippy::disallowed_methods, reason = \"x\")]\n"),
            ("crates/cli/src/b.rs", EFFECT),
            ("crates/cli/src/c.rs", "//! Effect: none. x\n"),
        ],
        &[
            "ARCHITECTURE.md:7: lists `crates/cli/src/clock.rs`, which is no effect file",
            "crates/cli/src/a.rs:3: lifts the ban on effects but does not open with `//! Effect:`",
            "crates/cli/src/b.rs:1: is not listed in ARCHITECTURE.md under `## What may touch the world`",
            "crates/cli/src/c.rs:1: says `Effect:` but lifts no ban; drop the word",
        ],
    );
}

#[test]
fn a_pure_crate_has_no_effect_files() {
    let list = LIST.replace("cli/src/clock", "policy/src/clock");
    check(
        &RULE,
        &[("ARCHITECTURE.md", &list), ("crates/policy/src/clock.rs", EFFECT)],
        &["crates/policy/src/clock.rs:2: lifts the ban on effects in a pure crate"],
    );
}
