//! Amounts stay exact, whatever their spelling.

use alloc::string::ToString as _;

use countersign_canon::{Json, Wire as _};

use super::Money;

fn money(text: &str) -> Option<Money> {
    Money::from_number(Json::parse(text.as_bytes()).unwrap().as_number().unwrap())
}

#[test]
fn tenths_add_up() {
    let sum = money("0.1").unwrap().plus(money("0.2").unwrap());
    assert_eq!(sum.to_string(), "0.3");
    assert_eq!(sum.write().to_canonical(), "0.3");
}

#[test]
fn spellings_of_one_amount_are_equal() {
    for text in ["12.5", "12.50", "1.25e1", "125e-1"] {
        assert_eq!(money(text).unwrap().to_string(), "12.5", "{text}");
    }
    assert_eq!(money("1e-9").unwrap().to_string(), "0.000000001");
    assert_eq!(money("1e4"), Some(Money::MAX));
    assert_eq!(money("0"), Some(Money::default()));
}

#[test]
fn what_cannot_be_held_exactly_is_refused() {
    for text in ["-1", "1e-10", "0.0000000001", "1e300", "0.1234567891"] {
        assert_eq!(money(text), None, "{text}");
    }
}
