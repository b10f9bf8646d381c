//! Dates and times of `java.time` as their `toString` writes them (`src/java.base/share/classes/java/time`, JDK 11 to 25).

use kcore_mem::Addr;

use crate::java::classes::Objects;

const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Days from 1 March of the year 0 to 1970, and of 400 years.
const EPOCH: i64 = 719_468;
const DAYS_PER_ERA: i64 = 146_097;
/// The last year without a sign.
const PLAIN_YEARS: i64 = 9999;

/// `2024-02-29`.
pub(super) fn date(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let part = |name| objects.integer(at, name);
    Some(written_date(part("year")?, part("month")?, part("day")?))
}

/// `23:59`, with seconds and parts of them where there are some.
pub(super) fn time(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let part = |name| objects.integer(at, name);
    let (second, nano) = (part("second")?, part("nano")?);
    let minutes = format!("{:02}:{:02}", part("hour")?, part("minute")?);
    Some(match (second, nano) {
        (0, 0) => minutes,
        _ => format!("{minutes}:{second:02}{}", fraction(nano)),
    })
}

/// `2024-02-29T23:59`.
pub(super) fn date_time(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let date = date(objects, objects.reference(at, "date")?)?;
    Some(format!("{date}T{}", time(objects, objects.reference(at, "time")?)?))
}

/// `2024-02-29T23:59+02:00`.
pub(super) fn with_offset(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let own = date_time(objects, objects.reference(at, "dateTime")?)?;
    Some(format!("{own}{}", zone(objects, objects.reference(at, "offset")?)?))
}

/// `2024-02-29T23:59+01:00[Europe/Paris]`.
pub(super) fn with_zone(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let own = with_offset(objects, at)?;
    let (offset, region) = (objects.reference(at, "offset")?, objects.reference(at, "zone")?);
    Some(match offset == region {
        true => own,
        false => format!("{own}[{}]", zone(objects, region)?),
    })
}

/// The name of a zone: `Europe/Paris`, `+02:00`.
pub(super) fn zone(objects: &Objects<'_>, at: Addr) -> Option<String> {
    objects.text(at, "id").map(|id| id.to_string())
}

/// `2023-11-14T22:13:20.123Z`.
pub(super) fn instant(objects: &Objects<'_>, at: Addr) -> Option<String> {
    Some(written_instant(objects.integer(at, "seconds")?, objects.integer(at, "nanos")?))
}

/// `PT25H1M1.5S`.
pub(super) fn duration(objects: &Objects<'_>, at: Addr) -> Option<String> {
    Some(written_duration(objects.integer(at, "seconds")?, objects.integer(at, "nanos")?))
}

/// `P1Y2M3D`.
pub(super) fn period(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let mut text = "P".to_owned();
    for (name, letter) in [("years", 'Y'), ("months", 'M'), ("days", 'D')] {
        let part = objects.integer(at, name)?;
        if part != 0 {
            text.push_str(&format!("{part}{letter}"));
        }
    }
    Some(if text.len() == 1 { "P0D".to_owned() } else { text })
}

/// `2024`.
pub(super) fn year(objects: &Objects<'_>, at: Addr) -> Option<String> {
    objects.integer(at, "year").map(|year| year.to_string())
}

/// `2024-05`.
pub(super) fn year_month(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let (year, month) = (objects.integer(at, "year")?, objects.integer(at, "month")?);
    let year = written_year(year);
    Some(format!("{}-{month:02}", year.trim_start_matches('+')))
}

/// `--05-06`.
pub(super) fn month_day(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let part = |name| objects.integer(at, name);
    Some(format!("--{:02}-{:02}", part("month")?, part("day")?))
}

fn written_year(year: i64) -> String {
    let sign = match year {
        ..0 => "-",
        _ if year > PLAIN_YEARS => "+",
        _ => "",
    };
    format!("{sign}{:04}", year.unsigned_abs())
}

fn written_date(year: i64, month: i64, day: i64) -> String {
    format!("{}-{month:02}-{day:02}", written_year(year))
}

/// Parts of a second in groups of three digits.
fn fraction(nano: i64) -> String {
    match nano {
        0 => String::new(),
        _ if nano.wrapping_rem(1_000_000) == 0 => format!(".{:03}", nano.wrapping_div(1_000_000)),
        _ if nano.wrapping_rem(1000) == 0 => format!(".{:06}", nano.wrapping_div(1000)),
        _ => format!(".{nano:09}"),
    }
}

fn written_instant(seconds: i64, nanos: i64) -> String {
    let (day, second) = (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
    let (year, month, day) = date_of(day);
    let (minute, second) = (second.wrapping_div(60), second.wrapping_rem(60));
    let (hour, minute) = (minute.wrapping_div(60), minute.wrapping_rem(60));
    let date = written_date(year, month, day);
    format!("{date}T{hour:02}:{minute:02}:{second:02}{}Z", fraction(nanos))
}

/// The year, month and day of a day since 1970. Years begin in March here, so that the day of a leap year is the last.
fn date_of(day: i64) -> (i64, i64, i64) {
    let day = day.saturating_add(EPOCH);
    let (era, day) = (day.div_euclid(DAYS_PER_ERA), day.rem_euclid(DAYS_PER_ERA));
    let leaps = (day.wrapping_div(1460)).wrapping_sub(day.wrapping_div(36_524));
    let leaps = leaps.wrapping_add(day.wrapping_div(146_096));
    let year = day.wrapping_sub(leaps).wrapping_div(365);
    let before = year.wrapping_mul(365).wrapping_add(year.wrapping_div(4));
    let day = day.wrapping_sub(before.wrapping_sub(year.wrapping_div(100)));
    let month = day.wrapping_mul(5).wrapping_add(2).wrapping_div(153);
    let before = month.wrapping_mul(153).wrapping_add(2).wrapping_div(5);
    let day = day.wrapping_sub(before).wrapping_add(1);
    let (month, later) =
        if month < 10 { (month.wrapping_add(3), 0) } else { (month.wrapping_sub(9), 1) };
    let year = era.wrapping_mul(400).wrapping_add(year).wrapping_add(later);
    (year, month, day)
}

/// Nanoseconds always count upwards, also from seconds below zero.
fn written_duration(seconds: i64, nanos: i64) -> String {
    if (seconds, nanos) == (0, 0) {
        return "PT0S".to_owned();
    }
    let is_below = seconds < 0 && nanos > 0;
    let whole = if is_below { seconds.saturating_add(1) } else { seconds };
    let (minutes, rest) = (whole.wrapping_div(60), whole.wrapping_rem(60));
    let (hours, minutes) = (minutes.wrapping_div(60), minutes.wrapping_rem(60));
    let part = |value: i64, letter: char| match value {
        0 => String::new(),
        _ => format!("{value}{letter}"),
    };
    let text = format!("PT{}{}", part(hours, 'H'), part(minutes, 'M'));
    if (rest, nanos) == (0, 0) {
        return text;
    }
    let sign = if is_below && rest == 0 { "-" } else { "" };
    let nanos = if is_below { NANOS_PER_SECOND.saturating_sub(nanos) } else { nanos };
    let fraction = match nanos {
        0 => String::new(),
        _ => format!(".{nanos:09}").trim_end_matches('0').to_owned(),
    };
    format!("{text}{sign}{rest}{fraction}S")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_dates() {
        assert_eq!(written_instant(0, 0), "1970-01-01T00:00:00Z");
        assert_eq!(written_instant(1_700_000_000, 123_000_000), "2023-11-14T22:13:20.123Z");
        assert_eq!(written_instant(-1, 1), "1969-12-31T23:59:59.000000001Z");
        assert_eq!(written_instant(951_782_400, 0), "2000-02-29T00:00:00Z");
        assert_eq!(written_instant(-62_167_219_200, 0), "0000-01-01T00:00:00Z");
        assert_eq!(written_instant(253_402_300_800, 0), "+10000-01-01T00:00:00Z");
        assert!(written_instant(i64::MIN, 0).ends_with('Z'));
    }

    #[test]
    fn durations_have_their_parts() {
        assert_eq!(written_duration(90_061, 1_000_000), "PT25H1M1.001S");
        assert_eq!(written_duration(-2, 500_000_000), "PT-1.5S");
        assert_eq!(written_duration(-1, 500_000_000), "PT-0.5S");
        assert_eq!(written_duration(3600, 0), "PT1H");
        assert_eq!(written_duration(0, 5), "PT0.000000005S");
    }

    #[test]
    fn years_have_four_digits_at_least() {
        let years = [-5, 0, 999, 2024, 12_345].map(written_year);
        assert_eq!(years, ["-0005", "0000", "0999", "2024", "+12345"]);
    }
}
