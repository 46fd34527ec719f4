//! The gates, as people use them.

use crate::support::{Sandbox, repository};

#[test]
fn all_gates_pass_on_what_is_shipped() {
    let ran = Sandbox::new().run(&["gate", "dry-run", "--root", repository().to_str().unwrap()]);
    insta::assert_snapshot!(ran.screen(), @"
    exit 0
    --- stdout
    A pass  examples present, ids unique
    B pass  examples and results valid against full schemas
    C pass  invalid fixtures and changed bytes refused for their own reason
    D pass  no execution, no writes: dependencies, sources, results
    E pass  runs in an empty home, touches nothing outside its output
    F pass  explanations as shipped
    --- stderr
    ");
}

#[test]
fn a_gate_that_does_not_exist_is_a_usage_error() {
    let ran = Sandbox::new().run(&["gate", "dry-run", "G", "--root", repository().to_str().unwrap()]);
    assert_eq!(ran.exit, Some(2));
    assert!(ran.stderr().contains("letters from A to F"), "{}", ran.stderr());
}

#[test]
fn without_examples_the_gates_are_red() {
    let ran = Sandbox::new().run(&["gate", "dry-run", "A", "C", "D", "E"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    assert_eq!(ran.stdout().matches("FAIL").count(), 4, "{}", ran.screen());
}
