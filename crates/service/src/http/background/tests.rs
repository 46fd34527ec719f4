//! When a proof is tried again, and when no more.

use super::*;

fn version(number: i64) -> VersionNumber {
    VersionNumber::new(number).unwrap()
}

#[test]
fn a_prover_that_fails_is_asked_less_and_less_and_then_no_more() {
    let mut tries = Tries::default();
    let mut tried = Vec::new();
    for look in 0..1000_u32 {
        if tries.is_due(version(1)) {
            tried.push(look);
            assert_eq!(tries.fail(), tried.len() == 5);
        }
    }
    assert_eq!(tried, [0, 2, 6, 14, 30]);
    assert!(tries.is_due(version(2)), "another policy starts afresh");
}

#[test]
fn a_policy_that_is_proved_is_looked_at_every_time() {
    let mut tries = Tries::default();
    assert!((0..10).all(|_| tries.is_due(version(1))));
}
