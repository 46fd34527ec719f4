//! Time as data: whole seconds, in UTC, with one spelling.

use alloc::format;
use core::fmt;

use crate::{Issue, code::codes};

/// An instant to the second, spelt `YYYY-MM-DDTHH:MM:SSZ` and no other way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    // INVARIANT: a year from 0 to 9999, so that it has twenty characters.
    seconds: i64,
}

const SECONDS_PER_DAY: i64 = 86_400;
/// 0000-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const SECONDS_MIN: i64 = -62_167_219_200;
const SECONDS_MAX: i64 = 253_402_300_799;

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self { seconds: 0 };

    /// The instant so many seconds after 1970-01-01T00:00:00Z, if its year has four digits.
    #[must_use]
    pub fn from_unix(seconds: i64) -> Option<Self> {
        (SECONDS_MIN..=SECONDS_MAX).contains(&seconds).then_some(Self { seconds })
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn as_unix(self) -> i64 {
        self.seconds
    }

    /// The instant so many seconds later, if its year still has four digits.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Option<Self> {
        self.seconds.checked_add(seconds).and_then(Self::from_unix)
    }

    /// Reads `YYYY-MM-DDTHH:MM:SSZ` and checks that the instant exists.
    ///
    /// # Errors
    ///
    /// Fails on any other spelling (offsets, fractions, lower case), and on dates and times that do not exist.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        read(text).ok_or_else(|| {
            Issue::new(codes::TIME_SHAPE, format!("`{text}` is not a time"))
                .with_expected("a real instant in UTC such as 2026-02-12T09:10:00Z")
        })
    }
}

fn read(text: &str) -> Option<Timestamp> {
    let bytes: &[u8; 20] = text.as_bytes().try_into().ok()?;
    let [y1, y2, y3, y4, b'-', mo1, mo2, b'-', d1, d2, b'T', h1, h2, b':', mi1, mi2, b':', s1, s2, b'Z'] =
        *bytes
    else {
        return None;
    };
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0_i64, |number, digit| {
            let digit = digit.is_ascii_digit().then(|| digit.checked_sub(b'0')).flatten()?;
            number.checked_mul(10)?.checked_add(i64::from(digit))
        })
    };
    let (year, month, day) = (number(&[y1, y2, y3, y4])?, number(&[mo1, mo2])?, number(&[d1, d2])?);
    let (hour, minute, second) = (number(&[h1, h2])?, number(&[mi1, mi2])?, number(&[s1, s2])?);
    let exists = (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !exists {
        return None;
    }
    let time_of_day = hour.checked_mul(3600)?.checked_add(minute.checked_mul(60)?)?.checked_add(second)?;
    let days = days_before(year, month)?.checked_add(day)?.checked_sub(1)?;
    Timestamp::from_unix(days.checked_mul(SECONDS_PER_DAY)?.checked_add(time_of_day)?)
}

fn is_leap(year: i64) -> bool {
    year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 to the first of the month.
fn days_before(year: i64, month: i64) -> Option<i64> {
    // Leap years before `year`, counted from year 0, which is one.
    let past = year.checked_sub(1)?;
    let leap_years = past
        .div_euclid(4)
        .checked_sub(past.div_euclid(100))?
        .checked_add(past.div_euclid(400))?
        .checked_add(1)?;
    let from_year_zero = year.checked_mul(365)?.checked_add(leap_years)?;
    let in_year: i64 = (1..month).map(|month| days_in_month(year, month)).sum();
    from_year_zero.checked_add(in_year)?.checked_sub(719_528)
}

impl Timestamp {
    /// Spells the instant into a buffer, without allocating.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "four digits for the year keep all of it far from any limit"
    )]
    pub(crate) fn to_text(self, buffer: &mut [u8; 20]) -> &str {
        let (days, time) =
            (self.seconds.div_euclid(SECONDS_PER_DAY), self.seconds.rem_euclid(SECONDS_PER_DAY));
        // Years that begin in March have the leap day, if any, at their end. Counted from the first of March of year -400,
        // so that nothing is negative, in rounds of 400 years, which all have the same days.
        let (round, day) = ((days + 865_565) / 146_097, (days + 865_565) % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
        let year = year + 400 * round - 400;
        *buffer = *b"0000-00-00T00:00:00Z";
        let [y1, y2, y3, y4, _, mo1, mo2, _, d1, d2, _, h1, h2, _, mi1, mi2, _, s1, s2, _] = buffer;
        let parts = [
            (y1, year / 1000),
            (y2, year / 100),
            (y3, year / 10),
            (y4, year),
            (mo1, month / 10),
            (mo2, month),
            (d1, day / 10),
            (d2, day),
            (h1, time / 36_000),
            (h2, time / 3600),
            (mi1, time / 600 % 6),
            (mi2, time / 60),
            (s1, time / 10 % 6),
            (s2, time),
        ];
        for (digit, value) in parts {
            *digit = decimal(value);
        }
        core::str::from_utf8(buffer).unwrap_or_default()
    }
}

/// The last decimal digit of a number that is not negative.
pub(crate) fn decimal(value: i64) -> u8 {
    u8::try_from(value % 10).map_or(b'0', |digit| digit.wrapping_add(b'0'))
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_text(&mut [0; 20]))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
