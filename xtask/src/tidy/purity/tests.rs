//! Tests of the rule about purity.

use super::{
    super::{PURE_CRATES, tests::check},
    RULE,
};

const LIB: &str = "//! x\n#![no_std]\n";

/// Good pure crates, with these files beside or instead.
#[track_caller]
fn check_with(files: &[(&str, &str)], expected: &[&str]) {
    let good: Vec<_> = PURE_CRATES.iter().map(|name| format!("crates/{name}/src/lib.rs")).collect();
    let good = good.iter().map(|path| (path.as_str(), LIB));
    check(&RULE, &good.chain(files.iter().copied()).collect::<Vec<_>>(), expected);
}

#[test]
fn a_crate_with_std_is_refused() {
    check_with(
        &[("crates/scan/src/lib.rs", "//! x\n#![cfg_attr(not(test), no_std)]\n")],
        &[
            "crates/scan/src/lib.rs:1: does not say `#![no_std]`",
            "crates/scan/src/lib.rs:2: is conditional on something else than `#[cfg(test)]`",
        ],
    );
}

#[test]
fn std_may_come_back_for_tests_alone() {
    check_with(
        &[
            ("crates/policy/src/a.rs", "//! x\n#[cfg(test)]\nextern crate std;\n"),
            ("crates/policy/src/b.rs", "//! x\nextern crate std;\n"),
            ("crates/policy/src/c.rs", "//! x\n#[cfg(target_os = \"linux\")]\nextern crate std;\n"),
            ("crates/policy/src/d/tests.rs", "//! x\nextern crate std;\n"),
        ],
        &[
            "crates/policy/src/b.rs:2: takes `std` back",
            "crates/policy/src/c.rs:2: is conditional on something else than `#[cfg(test)]`",
            "crates/policy/src/c.rs:3: takes `std` back",
        ],
    );
}

#[test]
fn only_listed_dependencies_are_allowed() {
    let text = "[dependencies]\ncountersign-canon.workspace = true\ncountersign-intent.workspace = true\n\
                [dev-dependencies]\nproptest.workspace = true\n[build-dependencies]\nthiserror.workspace = true\n\
                [target.'cfg(unix)'.dependencies]\nthiserror.workspace = true\n";
    check_with(
        &[("crates/policy/Cargo.toml", text)],
        &[
            "crates/policy/Cargo.toml:3: `countersign-intent` in [dependencies] is not on this crate's list",
            "crates/policy/Cargo.toml:7: `thiserror` in [build-dependencies] is not on this crate's list",
            "crates/policy/Cargo.toml:9: `thiserror` in [target.'cfg(unix)'.dependencies] is not on this crate's list",
        ],
    );
}

#[test]
fn build_scripts_and_features_are_refused() {
    check_with(
        &[
            ("crates/canon/Cargo.toml", "[package]\nbuild = \"make.rs\"\n[features]\nstd = []\n"),
            ("crates/canon/build.rs", "//! x\n"),
        ],
        &[
            "crates/canon/Cargo.toml:2: names a build script",
            "crates/canon/Cargo.toml:4: feature `std`: a pure crate is one program, not several",
            "crates/canon/build.rs:1: is a build script, which runs on the machine that builds",
        ],
    );
}

#[test]
fn a_pure_crate_is_on_the_list_and_in_the_test_command() {
    check_with(
        &[("crates/new/src/lib.rs", LIB), ("test", "pure_crates=(canon)\n")],
        &[
            "crates/new/src/lib.rs:1: is the root of a pure crate that tidy's list does not have",
            "test:1: does not say `pure_crates=(canon policy intent dryrun scan action ledger proofcheck proof)`",
        ],
    );
}
