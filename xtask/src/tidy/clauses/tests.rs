//! Tests of the rule about clauses.

use super::{super::tests::tree, ids, judge};

const HEAD: &str =
    "# Clauses\n\n| id | demand | implemented in | shown by | status |\n| --- | --- | --- | --- | --- |\n";

/// These rows, under the head, for a house of one crate with one test, break the rule in these ways.
#[track_caller]
fn check(rows: &str, wanted: &[&str], expected: &[&str]) {
    let files = [
        ("docs/clauses.md", &*format!("{HEAD}{rows}")),
        ("crates/policy/src/decide.rs", "//! x\nfn not_a_test() {}\n"),
        (
            "crates/policy/src/decide/tests.rs",
            "//! x\nmod k1_5 {\n    #[test]\n    fn deny_wins() {}\n    fn told_once() {}\n}\n",
        ),
        ("test", "step \"Bare metal\" bare_metal\n"),
    ];
    let found: Vec<String> = judge(&tree(&files), wanted).iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[test]
fn done_and_open_rows_that_say_enough_are_fine() {
    check(
        "| K1 | deny wins | `crates/policy/src/decide.rs` | `k1_5::deny_wins` | done |\n\
         | K2 | no effects | `crates/policy` | `./test: Bare metal`, `tidy: purity` | done |\n\
         | K3 | views | comes with `crates/policy` | | open |\n",
        &["K1", "K2", "K3"],
        &[],
    );
}

#[test]
fn a_done_row_without_a_test_that_exists_is_refused() {
    check(
        "| K1 | deny wins | `crates/policy` | | done |\n\
         | K2 | deny wins | `crates/policy` | `deny_loses`, `tidy: nothing` | done |\n\
         | K3 | deny wins | `crates/policy` | `not_a_test`, `told_once` | done |\n",
        &["K1", "K2", "K3"],
        &[
            "docs/clauses.md:5: `K1` is done but names no test that shows it",
            "docs/clauses.md:6: `K2` is shown by `deny_loses`, which does not exist",
            "docs/clauses.md:6: `K2` is shown by `tidy: nothing`, which does not exist",
            "docs/clauses.md:7: `K3` is shown by `not_a_test`, which does not exist",
            "docs/clauses.md:7: `K3` is shown by `told_once`, which does not exist",
        ],
    );
}

#[test]
fn a_row_names_a_part_that_exists() {
    check(
        "| K1 | x | later | | open |\n| K2 | x | comes with `crates/magic` | | open |\n\
         | K3 | x | comes with `crates/policy` | `deny_wins` | done |\n",
        &["K1", "K2", "K3"],
        &[
            "docs/clauses.md:5: `K1` does not name a part of the product",
            "docs/clauses.md:5: `K1` is open but does not say `comes with ` which part",
            "docs/clauses.md:6: `K2` names `crates/magic`, which is not in the tree",
            "docs/clauses.md:7: `K3` is done but still says `comes with `",
        ],
    );
}

#[test]
fn ids_are_complete_known_and_unique() {
    check(
        "| K1 | x | comes with `crates/policy` | | open |\n| K1 | | comes with `crates/policy` | | maybe |\n\
         | K9 | x | y |\n",
        &["K2"],
        &[
            "docs/clauses.md:5: `K1` is not an id of xtask's list of clauses",
            "docs/clauses.md:6: `K1` has a row already, on line 5",
            "docs/clauses.md:6: `K1` is not an id of xtask's list of clauses",
            "docs/clauses.md:6: `K1` does not say what it demands",
            "docs/clauses.md:6: `K1` has status `maybe`, not `done` or `open`",
            "docs/clauses.md:7: has 3 cells, a row has 5",
            "docs/clauses.md:1: `K2` has no row",
        ],
    );
}

#[test]
fn every_family_of_the_founding_documents_is_on_the_list() {
    let families = [
        "G", "CAP", "K0.1", "K0.2", "K1.1", "K1.2", "K1.3", "K1.4", "K1.5", "K1.6", "K1.7", "K2.1", "K2.2",
        "K2.3", "K3.1", "K3.2", "K4.1", "K4.2", "K5.1", "K5.2", "K5.3", "K6.1", "K6.2", "K6.3", "K6.4",
        "K6.5", "RL-E1", "RL-E2", "I1", "I2", "I3", "I4", "I5", "IE1", "IE2", "IE3", "IE4", "IE5", "IE7",
        "IE8", "IE9", "DE1", "DE2", "DE3", "DE4", "DE5", "DE6", "S1", "S2.1", "S2.2", "S3.1", "S3.2", "S4",
        "S5", "S6", "S7", "S8",
    ];
    for family in families {
        let dash = format!("{family}-");
        assert!(ids::ALL.iter().any(|id| *id == family || id.starts_with(&dash)), "{family}");
    }
}
