//! Tests of the rule about invariants.

use super::{super::tests::check, RULE};

const TEST: &str = "#!/usr/bin/env bash\nstep \"Bare metal\" bare_metal\n";

#[test]
fn an_invariant_names_a_check_that_exists() {
    let text = "# A\n\n**Invariant:** no clock.\nNone at all. Checked by: `./test: Bare metal`, `unsafe_code`,\n`tests::no_clock`.\n";
    check(
        &RULE,
        &[
            ("ARCHITECTURE.md", text),
            ("test", TEST),
            ("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n"),
            ("crates/a/src/a/tests.rs", "//! x\n#[test]\nfn no_clock() {}\n"),
        ],
        &[],
    );
}

#[test]
fn a_wish_is_refused() {
    let text = "**Invariant:** no clock.\n\n**Invariant:** no files. Checked by: .\n\n\
                **Invariant:** no net. Checked by: `no_net` and `./test: Nothing`.\n";
    check(
        &RULE,
        &[("ARCHITECTURE.md", text), ("test", TEST)],
        &[
            "ARCHITECTURE.md:1: invariant does not end with `Checked by:` and a check",
            "ARCHITECTURE.md:3: invariant does not end with `Checked by:` and a check",
            "ARCHITECTURE.md:5: no test, lint or step of `./test` is called `./test: Nothing`",
            "ARCHITECTURE.md:5: no test, lint or step of `./test` is called `no_net`",
        ],
    );
    check(
        &RULE,
        &[("ARCHITECTURE.md", "# A\n")],
        &["ARCHITECTURE.md:1: has no line that starts with `**Invariant:**`"],
    );
}
