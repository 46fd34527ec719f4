//! Money without drift: dollars as whole billionths, read from the number's one spelling.

use alloc::{format, string::String};
use core::fmt;

use countersign_canon::{Definitions, Issue, Json, Number, Reader, Value, Wire, canon_codes};

const PER_DOLLAR: u64 = 1_000_000_000;
const DECIMALS: usize = 9;

/// An amount of 0 to 10000 US dollars, exact to a billionth.
///
/// `0.1` and `0.2` make `0.3`, not `0.30000000000000004`: the amount is read from the decimal spelling, summed as
/// a whole number and spelt again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Money {
    billionths: u64,
}

impl Money {
    /// The most that one document may name.
    pub const MAX: Self = Self::dollars(10_000);

    /// So many whole dollars.
    #[must_use]
    pub const fn dollars(dollars: u64) -> Self {
        Self { billionths: dollars.saturating_mul(PER_DOLLAR) }
    }

    /// Reads a number; nothing if it is negative or has more than nine decimals.
    #[must_use]
    pub fn from_number(number: Number) -> Option<Self> {
        let text = format!("{number}");
        let (mantissa, exponent) = match text.split_once('e') {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text.as_str(), 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: u64 = format!("{whole}{fraction}").parse().ok()?;
        let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        // digits × 10^(9 − scale) billionths, if that is whole.
        let shift = i64::try_from(DECIMALS).ok()?.checked_sub(scale)?;
        let factor = 10_u64.checked_pow(u32::try_from(shift.checked_abs()?).ok()?);
        let billionths = match (factor, shift >= 0) {
            (Some(factor), true) => digits.checked_mul(factor)?,
            (Some(factor), false) => {
                digits.checked_rem(factor).filter(|rest| *rest == 0).and(digits.checked_div(factor))?
            }
            (None, _) => return (digits == 0).then_some(Self::default()),
        };
        Some(Self { billionths })
    }

    /// The sum; far below overflow for any set of documents, and held at the top if it is not.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { billionths: self.billionths.saturating_add(other.billionths) }
    }

    /// The amount as a JSON number.
    #[must_use]
    pub fn to_json(self) -> Json<'static> {
        let number = format!("{self}").parse::<f64>().ok().and_then(|value| Number::from_f64(value).ok());
        number.map_or_else(|| Json::from(Value::Null), Json::from)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.billionths.div_euclid(PER_DOLLAR), self.billionths.rem_euclid(PER_DOLLAR));
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let fraction: String = format!("{rest:09}");
        write!(f, "{whole}.{}", fraction.trim_end_matches('0'))
    }
}

impl Wire for Money {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let Some(number) = json.as_number() else {
            reader.wrong_type(json, "a number");
            return None;
        };
        let money = Self::from_number(number).filter(|money| *money <= Self::MAX);
        if money.is_none() {
            let issue = Issue::new(canon_codes::WIRE_BOUNDS, format!("found {number}"));
            reader.refuse(json, issue.with_expected("0 to 10000 dollars with at most nine decimals"));
        }
        money
    }

    fn write(&self) -> Json<'static> {
        self.to_json()
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        // How many decimals there are is beyond a schema of doubles; the parser checks it.
        Json::object([
            ("type", Json::from("number")),
            ("minimum", Json::from(0)),
            ("maximum", Json::from(10_000)),
        ])
    }
}

#[cfg(test)]
mod tests;
