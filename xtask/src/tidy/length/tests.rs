//! Tests of the rule about length: at each limit, and one past it.

use super::{
    super::tests::{check, tree},
    Exception, RULE, judge,
};

fn lines(count: usize) -> String {
    "x\n".repeat(count)
}

#[test]
fn rust_files_end_at_600_lines() {
    check(
        &RULE,
        &[("crates/a/src/at.rs", &lines(600)), ("crates/a/src/past.rs", &lines(601))],
        &["crates/a/src/past.rs:601: has 601 lines, the limit is 600"],
    );
}

#[test]
fn documents_have_their_own_limits() {
    check(&RULE, &[("README.md", &lines(150)), ("ARCHITECTURE.md", &lines(300)), ("test", &lines(200))], &[]);
    check(
        &RULE,
        &[("README.md", &lines(151)), ("ARCHITECTURE.md", &lines(301)), ("test", &lines(201))],
        &[
            "ARCHITECTURE.md:301: has 301 lines, the limit is 300",
            "README.md:151: has 151 lines, the limit is 150",
            "test:201: has 201 lines, the limit is 200",
        ],
    );
}

#[test]
fn an_exception_has_its_own_limit_and_must_be_needed() {
    let exception = |path| Exception { path, lines_max: 700, reason: "a table" };
    let long = lines(701);
    let files = [("long.rs", long.as_str()), ("short.rs", "x\n")];
    let findings = judge(&tree(&files), &[exception("long.rs"), exception("short.rs"), exception("gone.rs")]);
    let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "long.rs:701: has 701 lines, the limit is 700",
            "short.rs:1: has an exception that it does not need; remove it",
            "gone.rs:1: has an exception that it does not need; remove it",
        ]
    );
}
