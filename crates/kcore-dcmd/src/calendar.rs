//! Times of the civil calendar.

/// Seconds since 1970 as `2013 Apr 19 18:00:00`, in UTC; `None` for a year that nobody means.
pub fn civil_time(seconds: i64) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const DAY: i64 = 86_400;
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = civil(days).filter(|(year, ..)| (0..=9999).contains(year))?;
    let month = MONTHS.get(month)?;
    let (hour, minute, second) = (second / 3600, (second / 60) % 60, second % 60);
    Some(format!("{year} {month} {day:2} {hour:02}:{minute:02}:{second:02}"))
}

/// Milliseconds since 1970 as `2024-02-29T12:34:56.789Z`, with a sign and six digits for years beyond
/// four; `None` for what is no time to ECMA-262.
pub fn iso_time(milliseconds: f64) -> Option<String> {
    /// A hundred million days.
    const MOST: f64 = 8.64e15;
    const DAY: i64 = 86_400_000;
    // Not a number is not within either.
    (milliseconds.abs() <= MOST).then_some(())?;
    let whole = milliseconds.trunc() as i64;
    let (days, rest) = (whole.div_euclid(DAY), whole.rem_euclid(DAY));
    let (year, month, day) = civil(days)?;
    let year = match (0..=9999).contains(&year) {
        true => format!("{year:04}"),
        false => format!("{year:+07}"),
    };
    let (second, part) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (second / 3600, (second / 60) % 60, second % 60);
    let month = month.checked_add(1)?;
    Some(format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{part:03}Z"))
}

/// Year, month from 0 and day from 1 of a day since 1970, in the Gregorian calendar (Howard
/// Hinnant, <https://howardhinnant.github.io/date_algorithms.html>).
fn civil(days: i64) -> Option<(i64, usize, i64)> {
    /// Days from 0000-03-01 to 1970-01-01, and in 400 years.
    const EPOCH: i64 = 719_468;
    const ERA: i64 = 146_097;
    let days = days.checked_add(EPOCH)?;
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let leaps = (of_era / 1460).checked_sub(of_era / 36_524)?.checked_add(of_era / 146_096)?;
    let year_of_era = of_era.checked_sub(leaps)? / 365;
    let before_year = year_of_era.checked_mul(365)?.checked_add(year_of_era / 4)?;
    let day_of_year = of_era.checked_sub(before_year)?.checked_add(year_of_era / 100)?;
    // Months count from March, so that the leap day is the last of a year.
    let month = day_of_year.checked_mul(5)?.checked_add(2)? / 153;
    let before_month = month.checked_mul(153)?.checked_add(2)? / 5;
    let day = day_of_year.checked_sub(before_month)?.checked_add(1)?;
    let is_next_year = month >= 10;
    let year = year_of_era.checked_add(era.checked_mul(400)?)?.checked_add(is_next_year.into())?;
    let month = month.checked_add(2)?.rem_euclid(12);
    Some((year, usize::try_from(month).ok()?, day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_form_of_iso_8601() {
        let of = |time| iso_time(time).unwrap();
        assert_eq!(of(1_709_210_096_789.0), "2024-02-29T12:34:56.789Z");
        assert_eq!(of(-1.0), "1969-12-31T23:59:59.999Z");
        assert_eq!(of(8.64e15), "+275760-09-13T00:00:00.000Z");
        assert_eq!(of(-8.64e15), "-271821-04-20T00:00:00.000Z");
        assert_eq!([f64::NAN, 8.65e15, f64::INFINITY].map(iso_time), [None, None, None]);
    }

    #[test]
    fn times_are_civil() {
        assert_eq!(civil_time(0x5e2f_1a33).unwrap(), "2020 Jan 27 17:13:23");
        assert_eq!(civil_time(0).unwrap(), "1970 Jan  1 00:00:00");
        assert_eq!(civil_time(-1).unwrap(), "1969 Dec 31 23:59:59");
        assert_eq!(civil_time(951_782_400).unwrap(), "2000 Feb 29 00:00:00");
        assert_eq!(civil_time(i64::MAX), None);
        assert_eq!(civil_time(i64::MIN), None);
    }
}
