//! Tests of the rule about module names.

use super::{super::tests::check, RULE};

#[test]
fn names_that_fit_everything_are_refused() {
    check(
        &RULE,
        &[
            ("crates/a/src/utils.rs", "//! x\n"),
            ("crates/common/src/lib.rs", "//! x\n"),
            ("crates/a/src/helpers/b.rs", "//! x\n"),
            ("crates/a/src/c.rs", "//! x\npub(crate) mod misc {\n"),
            ("crates/a/src/utility_bill.rs", "//! x\nmod commonwealth;\n"),
        ],
        &[
            "crates/a/src/c.rs:2: has a module named `misc`",
            "crates/a/src/helpers/b.rs:1: is named `helpers`",
            "crates/a/src/utils.rs:1: is named `utils`",
            "crates/common/src/lib.rs:1: is named `common`",
        ],
    );
}
