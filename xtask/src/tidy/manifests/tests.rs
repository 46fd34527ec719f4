//! Tests of the rule about manifests.

use super::{super::tests::check, RULE};

const GOOD: &str = "[dependencies]\nsha2.workspace = true\n\n[lints]\nworkspace = true\n";

#[test]
fn a_member_without_the_lints_is_refused() {
    check(
        &RULE,
        &[("crates/a/Cargo.toml", GOOD), ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n")],
        &["crates/b/Cargo.toml:1: does not take the workspace's lints"],
    );
}

#[test]
fn a_version_of_its_own_is_refused_in_every_kind_of_dependencies() {
    let text = "[dependencies]\na = \"1\"\nb = { workspace = true }\n[target.'cfg(unix)'.dependencies]\nc = { version = \"1\" }\n\
                [dev-dependencies]\nd = \"1\"\n[lints]\nworkspace = true\n";
    check(
        &RULE,
        &[("xtask/Cargo.toml", text)],
        &[
            "xtask/Cargo.toml:2: `a` is not taken from the workspace",
            "xtask/Cargo.toml:5: `c` is not taken from the workspace",
            "xtask/Cargo.toml:7: `d` is not taken from the workspace",
        ],
    );
}

#[test]
fn a_third_party_dependency_needs_a_reason() {
    let text = "[workspace.dependencies]\nours = { path = \"crates/ours\" }\nsha2 = \"1\" # the one hash\nother = \"1\"\n";
    check(&RULE, &[("Cargo.toml", text)], &["Cargo.toml:4: `other` has no reason beside it"]);
}
