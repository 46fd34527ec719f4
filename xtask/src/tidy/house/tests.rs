//! Tests of the rule about the house's own files.

use super::{super::tests::check, RULE, WANTED};

/// The contents that each file needs.
fn good(path: &str) -> &'static str {
    match path {
        "CHANGELOG.md" => "# Changelog\n\n## [Unreleased]\n",
        ".ci/run" => "#!/usr/bin/env bash\n# Why.\ncd \"$(dirname \"$0\")/..\" || exit 2\nexec ./test\n",
        _ => "",
    }
}

#[test]
fn every_wanted_file_is_missed_when_it_is_gone() {
    for gone in WANTED {
        let rest: Vec<_> =
            WANTED.iter().filter(|path| *path != gone).map(|path| (*path, good(path))).collect();
        check(&RULE, &rest, &[&format!("{gone}:1: is missing")]);
    }
}

#[test]
fn what_is_there_must_be_right_and_alone() {
    let bad = |path| match path {
        "CHANGELOG.md" => "# Changelog\n",
        ".ci/run" => "cargo test\nexec ./test\n",
        other => good(other),
    };
    let files = WANTED.iter().map(|path| (*path, bad(path)));
    let more = [("crates/cli/clippy.toml", ""), ("rust-toolchain.toml", "")];
    check(
        &RULE,
        &files.chain(more).collect::<Vec<_>>(),
        &[
            ".ci/run:1: does more, or less, than `exec ./test`",
            "CHANGELOG.md:1: has no `## [Unreleased]`",
            "crates/cli/clippy.toml:1: is a second clippy.toml: clippy takes the nearest and does not merge, so the root's would be lost",
            "rust-toolchain.toml:1: pins a toolchain; the `stable` of the machine is the one we build with",
        ],
    );
}
