//! The crate chrono, of release 0.4: dates and times.

use crate::{Content, Object, calendar::CivilDay, eval::Evaluator, printers::Printer};

/// Days from 0001-01-01 to 1970-01-01.
const TO_1970: i64 = 719_162;
/// Seconds of a day.
const DAY: u64 = 86_400;
/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// A date, a time, both, or a span between two.
pub struct Chrono;

impl Printer for Chrono {
    fn families(&self) -> &'static [&'static str] {
        &[
            "chrono::NaiveDate",
            "chrono::NaiveTime",
            "chrono::NaiveDateTime",
            "chrono::DateTime",
            "chrono::FixedOffset",
            "chrono::TimeDelta",
            "chrono::Duration",
        ]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let ty = evaluator.complete(&object.ty)?;
        let words = match ty.name()?.split('<').next()? {
            "NaiveDate" => date(evaluator, object, 0)?,
            "NaiveTime" => time(evaluator, object, 0)?.0,
            "NaiveDateTime" => date_time(evaluator, object, 0)?,
            "DateTime" => zoned(evaluator, object)?,
            "FixedOffset" => offset(signed(evaluator, object, "local_minus_utc")?),
            _ => delta(evaluator, object)?,
        };
        Some(evaluator.raw(object, &ty).ok()?.meaning(words))
    }
}

/// A number within an object, with its sign.
fn signed(evaluator: &Evaluator<'_>, object: &Object, name: &str) -> Option<i64> {
    let member = evaluator.dig(object, &[name])?;
    let is_number = |member: &Object| member.number(evaluator.process()).ok();
    let number = is_number(&member).or_else(|| {
        let inner = evaluator.dig(&member, &["__0"])?;
        is_number(&inner).or_else(|| is_number(&evaluator.dig(&inner, &["__0"])?))
    })?;
    i64::try_from(number.value()?).ok()
}

/// In `yof`: the year, nine bits of the day of the year, from 1, and four bits that tell the kind of year.
fn date(evaluator: &Evaluator<'_>, object: &Object, days_more: i64) -> Option<String> {
    let packed = signed(evaluator, object, "yof").or_else(|| signed(evaluator, object, "ymdf"))?;
    let (year, ordinal) = (packed >> 13, (packed & 0x1fff) >> 4);
    let before = year.checked_sub(1)?;
    let leaps = before.div_euclid(4).checked_sub(before.div_euclid(100))?;
    let leaps = leaps.checked_add(before.div_euclid(400))?;
    let days = before.checked_mul(365)?.checked_add(leaps)?.checked_add(ordinal.checked_sub(1)?)?;
    let days = days.checked_sub(TO_1970)?.checked_add(days_more)?;
    Some(CivilDay::since_1970(days.into())?.to_string())
}

/// A time of a day so many seconds later, and by how many days that is another day. A part of a second above one is
/// within a leap second.
fn time(evaluator: &Evaluator<'_>, object: &Object, later: i64) -> Option<(String, i64)> {
    let seconds = evaluator.number_in(object, &["secs"]).filter(|seconds| *seconds < DAY)?;
    let part = evaluator.number_in(object, &["frac"]).filter(|part| *part < 2 * SECOND)?;
    let local = i64::try_from(seconds).ok()?.checked_add(later)?;
    let day = i64::try_from(DAY).ok()?;
    let (days, of_day) = (local.div_euclid(day), local.rem_euclid(day));
    let leap = i64::from(part >= SECOND);
    let (hour, minute) = (of_day / 3600, of_day / 60 % 60);
    let second = (of_day % 60).checked_add(leap)?;
    let digits = match part % SECOND {
        0 => String::new(),
        part if part % 1_000_000 == 0 => format!(".{:03}", part / 1_000_000),
        part if part % 1_000 == 0 => format!(".{:06}", part / 1_000),
        part => format!(".{part:09}"),
    };
    Some((format!("{hour:02}:{minute:02}:{second:02}{digits}"), days))
}

fn date_time(evaluator: &Evaluator<'_>, object: &Object, later: i64) -> Option<String> {
    let (time, days) = time(evaluator, &evaluator.member(object, "time")?, later)?;
    Some(format!("{} {time}", date(evaluator, &evaluator.member(object, "date")?, days)?))
}

/// A moment is kept in UTC, with how far its zone is from that where the program knows.
fn zoned(evaluator: &Evaluator<'_>, object: &Object) -> Option<String> {
    let moment = evaluator.member(object, "datetime")?;
    match signed(evaluator, object, "local_minus_utc") {
        Some(seconds) => {
            Some(format!("{} {}", date_time(evaluator, &moment, seconds)?, offset(seconds)))
        }
        None => Some(format!("{} UTC", date_time(evaluator, &moment, 0)?)),
    }
}

/// `+02:00`
fn offset(seconds: i64) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let rest = if rest == 0 { String::new() } else { format!(":{rest:02}") };
    format!("{sign}{hours:02}:{minutes:02}{rest}")
}

/// A span in seconds: its nanoseconds count up from whole seconds, below 0 as well.
fn delta(evaluator: &Evaluator<'_>, object: &Object) -> Option<String> {
    let seconds = i128::from(signed(evaluator, object, "secs")?);
    let part = i128::from(signed(evaluator, object, "nanos")?);
    let whole = seconds.checked_mul(SECOND.into())?.checked_add(part)?;
    let sign = if whole < 0 { "-" } else { "" };
    let whole = whole.unsigned_abs();
    let seconds = u64::try_from(whole.checked_div(SECOND.into())?).ok()?;
    let part = u32::try_from(whole.checked_rem(SECOND.into())?).ok()?;
    Some(format!("{sign}{:?}", std::time::Duration::new(seconds, part)))
}
