//! Days of the civil calendar, and moments in UTC.

use std::fmt;

/// Nanoseconds of a second.
const NANOSECONDS: i128 = 1_000_000_000;
/// Seconds of a day.
const DAY: i128 = 86_400;
/// The years that are written, either side of 0: more than any clock counts.
const MOST_YEARS: i64 = 1_000_000;

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CivilDay {
    /// The year; that before year 1 is 0.
    pub year: i64,
    /// The month, 1 to 12.
    pub month: i64,
    /// The day of the month, from 1.
    pub day: i64,
}

impl CivilDay {
    /// The day that lies so many days behind 1970-01-01; `None` beyond a million years from year 0 (Howard Hinnant,
    /// <https://howardhinnant.github.io/date_algorithms.html>).
    pub fn since_1970(days: i128) -> Option<Self> {
        /// Days from 0000-03-01 to 1970-01-01, and in 400 years.
        const EPOCH: i64 = 719_468;
        const ERA: i64 = 146_097;
        let days = i64::try_from(days).ok()?.checked_add(EPOCH)?;
        let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
        let leaps = (of_era / 1460).checked_sub(of_era / 36_524)?.checked_add(of_era / 146_096)?;
        let year_of_era = of_era.checked_sub(leaps)? / 365;
        let before_year = year_of_era.checked_mul(365)?.checked_add(year_of_era / 4)?;
        let day_of_year = of_era.checked_sub(before_year)?.checked_add(year_of_era / 100)?;
        // Months count from March, so that the leap day is the last of a year.
        let month = day_of_year.checked_mul(5)?.checked_add(2)? / 153;
        let before_month = month.checked_mul(153)?.checked_add(2)? / 5;
        let day = day_of_year.checked_sub(before_month)?.checked_add(1)?;
        let is_next_year = i64::from(month >= 10);
        let year = year_of_era.checked_add(era.checked_mul(400)?)?.checked_add(is_next_year)?;
        let month = month.checked_add(2)?.rem_euclid(12).checked_add(1)?;
        (year.abs() <= MOST_YEARS).then_some(Self { year, month, day })
    }
}

impl fmt::Display for CivilDay {
    /// `2024-02-29`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day } = self;
        let sign = if *year < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs())
    }
}

/// A moment that lies `count` times `numerator / denominator` seconds behind the beginning of 1970, as
/// `2024-02-29 12:34:56.789`, with as many digits as its unit has, at most nine; of whole days the day alone. `None`
/// for a unit that is none, and for years that nobody means.
pub fn moment(count: i128, numerator: i128, denominator: i128) -> Option<String> {
    if numerator <= 0 || denominator <= 0 {
        return None;
    }
    let ticks = count.checked_mul(numerator)?;
    let seconds = ticks.checked_div_euclid(denominator)?;
    let part = ticks.checked_rem_euclid(denominator)?;
    let (days, of_day) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let day = CivilDay::since_1970(days)?;
    if numerator % DAY == 0 && denominator == 1 {
        return Some(day.to_string());
    }
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let nanoseconds = part.checked_mul(NANOSECONDS)?.checked_div(denominator)?;
    let digits = match denominator {
        1 => String::new(),
        2..=1_000 => format!(".{:03}", nanoseconds / 1_000_000),
        1_001..=1_000_000 => format!(".{:06}", nanoseconds / 1_000),
        _ => format!(".{nanoseconds:09}"),
    };
    Some(format!("{day} {hour:02}:{minute:02}:{second:02}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_civil() {
        let day = |days| CivilDay::since_1970(days).map(|day| day.to_string());
        assert_eq!(day(0).as_deref(), Some("1970-01-01"));
        assert_eq!(day(-1).as_deref(), Some("1969-12-31"));
        assert_eq!(day(19_782).as_deref(), Some("2024-02-29"));
        assert_eq!(day(-719_529).as_deref(), Some("-0001-12-31"));
        assert_eq!((day(i128::MAX), day(i128::from(i64::MIN))), (None, None));
    }

    #[test]
    fn moments_have_the_digits_of_their_unit() {
        let of = |count, denominator| moment(count, 1, denominator);
        assert_eq!(of(-1, 1).as_deref(), Some("1969-12-31 23:59:59"));
        assert_eq!(of(1_709_210_096_789, 1000).as_deref(), Some("2024-02-29 12:34:56.789"));
        assert_eq!(of(-1, 1_000_000_000).as_deref(), Some("1969-12-31 23:59:59.999999999"));
        assert_eq!(moment(19_782, 86_400, 1).as_deref(), Some("2024-02-29"));
        assert_eq!((of(i128::MAX, 1), of(1, 0), of(1, -1)), (None, None, None));
    }
}
