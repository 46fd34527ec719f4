//! The gates, run as people run them.

use crate::support::{Sandbox, repository};

#[test]
fn all_gates_pass_on_what_is_shipped() {
    let ran = Sandbox::new().run(&["gate", "evaluator", "--root", repository().to_str().unwrap()]);
    insta::assert_snapshot!(ran.screen(), @"
    exit 0
    --- stdout
    A pass  examples present, ids unique
    B pass  examples and outcomes valid
    C pass  invalid fixtures refused for their own reason
    D pass  no execution symbols in schemas, examples and outcomes
    E pass  runs in an empty home, touches nothing outside its output
    F pass  explanations as shipped
    G pass  each conflict type found where planted, none in clean sets
    H pass  same input, same bytes; permuted ids, same bytes
    I pass  the risk matrix recomputes
    J pass  lineage complete, without payload
    --- stderr
    ");
}

#[test]
fn a_gate_that_does_not_exist_is_a_usage_error() {
    let ran = Sandbox::new().run(&["gate", "evaluator", "K", "--root", repository().to_str().unwrap()]);
    assert_eq!(ran.exit, Some(2));
}

#[test]
fn without_examples_the_gates_are_red() {
    let ran = Sandbox::new().run(&["gate", "evaluator", "A", "C", "E"]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    assert_eq!(ran.stdout().matches("FAIL").count(), 3, "{}", ran.screen());
}
