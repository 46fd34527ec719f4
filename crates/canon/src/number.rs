//! Numbers of the profile, and their one spelling.

use alloc::string::String;
use core::fmt;

use crate::{Code, code::codes, time::decimal};

/// The largest integer that a double holds exactly with all its neighbours: 2^53−1.
pub const INTEGER_MAX: i64 = 9_007_199_254_740_991;

/// 2^53: from here on a double skips integers.
const AMBIGUOUS_FROM: f64 = 9_007_199_254_740_992.0;
/// 10^21: from here on the canonical spelling has an exponent and is unmistakable again.
const AMBIGUOUS_UNTIL: f64 = 1e21;

/// A number whose canonical spelling reads back as the same number.
#[derive(Clone, Copy, PartialEq)]
pub struct Number(Repr);

#[derive(Clone, Copy, PartialEq)]
enum Repr {
    // INVARIANT: within ±INTEGER_MAX. Every integral value in that range is an Integer, also one written `1.0`.
    Integer(i64),
    // INVARIANT: finite, not integral within ±INTEGER_MAX, and not in the ambiguous range.
    Double(f64),
}

impl Number {
    /// The integer, if it is within ±(2^53−1).
    #[must_use]
    pub fn from_i64(value: i64) -> Option<Self> {
        (-INTEGER_MAX..=INTEGER_MAX).contains(&value).then_some(Self(Repr::Integer(value)))
    }

    /// The double, if it is in the profile; else the code that says why not.
    ///
    /// # Errors
    ///
    /// Fails on NaN, the infinities, and magnitudes from 2^53 up to 10^21.
    pub fn from_f64(value: f64) -> Result<Self, Code> {
        let magnitude = value.abs();
        if magnitude.is_nan() {
            return Err(codes::JSON_NOT_A_NUMBER);
        }
        if magnitude.is_infinite() {
            return Err(codes::JSON_NUMBER_OVERFLOW);
        }
        if (AMBIGUOUS_FROM..AMBIGUOUS_UNTIL).contains(&magnitude) {
            return Err(codes::JSON_NUMBER_AMBIGUOUS);
        }
        Ok(Self(exact_integer(value).map_or(Repr::Double(value), Repr::Integer)))
    }

    /// The value as an integer, if it is one within ±(2^53−1).
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        match self.0 {
            Repr::Integer(value) => Some(value),
            Repr::Double(_) => None,
        }
    }

    /// The value as a double. Exact, whatever it is.
    #[must_use]
    #[expect(clippy::as_conversions, reason = "exact: integers are within ±(2^53−1)")]
    pub fn as_f64(self) -> f64 {
        match self.0 {
            Repr::Integer(value) => value as f64,
            Repr::Double(value) => value,
        }
    }

    pub(crate) fn print(self, out: &mut String) {
        match self.0 {
            Repr::Integer(value) => print_i64(value, out),
            Repr::Double(value) => print_f64(value, out),
        }
    }
}

/// The integer that a double below 2^53 in magnitude is, if it has no fraction. Minus zero is zero.
#[expect(clippy::as_conversions, reason = "the cast back shows whether the first one was exact")]
fn exact_integer(value: f64) -> Option<i64> {
    let integer = value as i64;
    #[expect(clippy::float_cmp, reason = "exact equality is the question")]
    let is_exact = integer as f64 == value && (-INTEGER_MAX..=INTEGER_MAX).contains(&integer);
    is_exact.then_some(integer)
}

impl From<u32> for Number {
    fn from(value: u32) -> Self {
        Self(Repr::Integer(i64::from(value)))
    }
}

impl From<i32> for Number {
    fn from(value: i32) -> Self {
        Self(Repr::Integer(i64::from(value)))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.print(&mut text);
        f.write_str(&text)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn print_i64(value: i64, out: &mut String) {
    if value < 0 {
        out.push('-');
    }
    print_digits(value.saturating_abs(), out);
}

/// Appends the digits of a number that is not negative; most are short.
fn print_digits(value: i64, out: &mut String) {
    if value > 9 {
        print_digits(value / 10, out);
    }
    out.push(char::from(decimal(value)));
}

/// Appends a finite double the way ECMAScript's `Number::toString` does; RFC 8785 section 3.2.2.3.
///
/// Also prints values outside the profile, so that the RFC's own examples can be tested on it. The digits are not
/// those of Rust's own `{:e}`: of two shortest spellings equally near, ECMAScript takes the even one.
pub fn print_f64(value: f64, out: &mut String) {
    out.push_str(ryu_js::Buffer::new().format(value));
}
