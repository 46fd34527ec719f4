//! How often somebody may ask.

use std::time::Duration;

use super::{Budget, REQUESTS_PER_S};
use crate::{clock, code::codes};

#[test]
fn whoever_asks_too_often_is_told_so_until_time_has_passed() {
    let start = clock::instant();
    let mut budget = Budget::full(start);
    for _ in 0..REQUESTS_PER_S {
        budget.spend(start).unwrap();
    }
    let refused = budget.spend(start).unwrap_err();
    assert_eq!((refused.status.as_u16(), refused.code()), (429, codes::HTTP_TOO_MANY), "one past the limit");
    let later = start.checked_add(Duration::from_millis(1)).unwrap();
    for _ in 0..REQUESTS_PER_S / 1000 {
        budget.spend(later).unwrap();
    }
    assert!(budget.spend(later).is_err(), "a millisecond earns its share and no more");
    let much_later = start.checked_add(Duration::from_secs(3600)).unwrap();
    for _ in 0..REQUESTS_PER_S {
        budget.spend(much_later).unwrap();
    }
    assert!(budget.spend(much_later).is_err(), "a long pause fills it up, and does not make it larger");
}
