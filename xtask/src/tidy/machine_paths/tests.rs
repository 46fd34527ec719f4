//! Tests of the rule about places of one machine.

use super::{super::tests::check, RULE};

#[test]
fn paths_of_one_machine_are_refused_in_every_kind_of_file() {
    check(
        &RULE,
        &[
            ("README.md", concat!("see /wo", "rk/main\n")),
            ("crates/a/src/a.rs", concat!("//! Fine.\n// \"/ro", "ot/x\"\n")),
            ("test", concat!("cd '/ho", "me/someone'\n")),
        ],
        &[
            concat!("README.md:1: names `/wo", "rk/`"),
            concat!("crates/a/src/a.rs:2: names `/ro", "ot/`"),
            concat!("test:1: names `/ho", "me/`"),
        ],
    );
}

#[test]
fn longer_paths_and_data_may_hold_such_names() {
    check(
        &RULE,
        &[
            ("README.md", concat!("docs/wo", "rk/plan.md and $HOME/ro", "ot/x\n")),
            ("corpus/hooks/a.json", concat!("/ho", "me/x\n")),
        ],
        &[],
    );
}
