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

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut days = self.seconds.div_euclid(SECONDS_PER_DAY);
        let time = self.seconds.rem_euclid(SECONDS_PER_DAY);
        // A first guess at the year that is never too late, then forward: at most a few steps.
        let mut year = days.div_euclid(366).saturating_add(1970).clamp(0, 9999);
        if days < 0 {
            year = days.div_euclid(365).saturating_add(1969).clamp(0, 9999);
        }
        while year < 9999 && days_before(year.saturating_add(1), 1).is_some_and(|start| start <= days) {
            year = year.saturating_add(1);
        }
        days = days.saturating_sub(days_before(year, 1).unwrap_or_default());
        let mut month = 1;
        while month < 12 && days >= days_in_month(year, month) {
            days = days.saturating_sub(days_in_month(year, month));
            month = i64::saturating_add(month, 1);
        }
        let day = days.saturating_add(1);
        let (hour, minute, second) =
            (time.div_euclid(3600), time.rem_euclid(3600).div_euclid(60), time.rem_euclid(60));
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
