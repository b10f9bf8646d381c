//! Times of the civil calendar.

use kcore::CivilDay;

/// Seconds since 1970 as `2013 Apr 19 18:00:00`, in UTC; `None` for a year that nobody means.
pub fn civil_time(seconds: i64) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    const DAY: i64 = 86_400;
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let date = CivilDay::since_1970(days.into());
    let CivilDay { year, month, day } = date.filter(|date| (0..=9999).contains(&date.year))?;
    let month = MONTHS.get(usize::try_from(month.checked_sub(1)?).ok()?)?;
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
    let CivilDay { year, month, day } = CivilDay::since_1970(days.into())?;
    let year = match (0..=9999).contains(&year) {
        true => format!("{year:04}"),
        false => format!("{year:+07}"),
    };
    let (second, part) = (rest / 1000, rest % 1000);
    let (hour, minute, second) = (second / 3600, (second / 60) % 60, second % 60);
    Some(format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{part:03}Z"))
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
