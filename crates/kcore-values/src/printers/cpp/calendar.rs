//! The calendar of C++20: years, months, days and weekdays, and what is made of them.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Weekdays from Sunday, and months from January.
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A part of a date, or a date.
pub struct Calendar;

impl Printer for Calendar {
    fn families(&self) -> &'static [&'static str] {
        &[
            "std::chrono::year",
            "std::chrono::month",
            "std::chrono::day",
            "std::chrono::weekday",
            "std::chrono::weekday_indexed",
            "std::chrono::weekday_last",
            "std::chrono::month_day",
            "std::chrono::month_day_last",
            "std::chrono::month_weekday",
            "std::chrono::month_weekday_last",
            "std::chrono::year_month",
            "std::chrono::year_month_day",
            "std::chrono::year_month_day_last",
            "std::chrono::year_month_weekday",
            "std::chrono::year_month_weekday_last",
            "std::chrono::hh_mm_ss",
        ]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let words = written(evaluator, object)?;
        let ty = evaluator.complete(&object.ty)?;
        Some(evaluator.raw(object, &ty).ok()?.meaning(words))
    }
}

/// As `operator<<` of C++20 writes it.
fn written(evaluator: &Evaluator<'_>, object: &Object) -> Option<String> {
    let part = |names: &[&str]| evaluator.dig(object, names);
    let of = |names: &[&str]| written(evaluator, &part(names)?);
    let (year, month) = (["_M_y", "__y_", "__y"], ["_M_m", "__m_", "__m"]);
    let day = ["_M_d", "__d_", "__d"];
    Some(match object.ty.stripped().ok()?.name()? {
        "year" => year_of(signed(evaluator, &part(&year)?)?),
        "month" => month_of(evaluator.number(&part(&month)?)?),
        "day" => day_of(evaluator.number(&part(&day)?)?),
        "weekday" => weekday_of(evaluator.number(&part(&["_M_wd", "__wd_", "__wd"])?)?),
        "weekday_indexed" => {
            let index = evaluator.number(&part(&["_M_index", "__idx_", "__idx"])?)?;
            format!("{}[{index}]", of(&["_M_wd", "__wd_", "__wd"])?)
        }
        "weekday_last" => format!("{}[last]", of(&["_M_wd", "__wd_", "__wd"])?),
        "month_day" => format!("{}/{}", of(&month)?, of(&day)?),
        "month_day_last" => format!("{}/last", of(&month)?),
        "month_weekday" => format!("{}/{}", of(&month)?, of(&["_M_wdi", "__wdi_", "__wdi"])?),
        "month_weekday_last" => format!("{}/{}", of(&month)?, of(&["_M_wdl", "__wdl_", "__wdl"])?),
        "year_month" => format!("{}/{}", of(&year)?, of(&month)?),
        "year_month_day" => date(evaluator, object, &year, &month, &day)?,
        "year_month_day_last" => format!("{}/{}", of(&year)?, of(&["_M_mdl", "__mdl_", "__mdl"])?),
        "year_month_weekday" => {
            format!("{}/{}/{}", of(&year)?, of(&month)?, of(&["_M_wdi", "__wdi_", "__wdi"])?)
        }
        "year_month_weekday_last" => {
            format!("{}/{}/{}", of(&year)?, of(&month)?, of(&["_M_wdl", "__wdl_", "__wdl"])?)
        }
        name if name.starts_with("hh_mm_ss<") => time_of_day(evaluator, object)?,
        _ => return None,
    })
}

/// `2024-02-29`; of numbers that are no date, it says so as C++ does.
fn date(
    evaluator: &Evaluator<'_>,
    object: &Object,
    year: &[&str],
    month: &[&str],
    day: &[&str],
) -> Option<String> {
    let part = |names: &[&str]| evaluator.dig(object, names);
    let year = signed(evaluator, &evaluator.dig(&part(year)?, year)?)?;
    let month = evaluator.number(&evaluator.dig(&part(month)?, month)?)?;
    let day = evaluator.number(&evaluator.dig(&part(day)?, day)?)?;
    let sign = if year < 0 { "-" } else { "" };
    let written = format!("{sign}{:04}-{month:02}-{day:02}", year.unsigned_abs());
    let is_date = day >= 1 && last_day(year, month).is_some_and(|last| day <= last);
    Some(if is_date { written } else { format!("{written} is not a valid date") })
}

/// How many days a month has; `None` of what is no month.
fn last_day(year: i64, month: u64) -> Option<u64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    Some(match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    })
}

/// `01:02:03.004`
fn time_of_day(evaluator: &Evaluator<'_>, object: &Object) -> Option<String> {
    let number = |names: &[&str]| evaluator.number(&evaluator.dig(object, names)?);
    let count = |names: &[&str]| evaluator.dig_number(&evaluator.dig(object, names)?);
    let is_negative = number(&["_M_is_neg", "__is_neg_", "__is_neg"])? != 0;
    let (hours, minutes) = (count(&["_M_h", "__h_", "__h"])?, count(&["_M_m", "__m_", "__m"])?);
    let seconds = count(&["_M_s", "__s_", "__s"])?;
    let part = count(&["_M_ss", "__f_", "__f"]).filter(|part| *part > 0);
    let sign = if is_negative { "-" } else { "" };
    let part = match part {
        Some(part) => format!(".{part:0width$}", width = digits(evaluator, object)?),
        None => String::new(),
    };
    Some(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{part}"))
}

/// Digits behind the point of the seconds: as many as a unit of a power of ten needs.
fn digits(evaluator: &Evaluator<'_>, object: &Object) -> Option<usize> {
    let duration = evaluator.complete(&evaluator.argument(&object.ty, 0)?)?;
    let ratio = evaluator.complete(&evaluator.argument(&duration, 1)?)?;
    let denominator = u64::try_from(ratio.composite()?.arguments.get(1)?.value?).ok()?;
    let digits = denominator.checked_ilog10()?;
    let is_decimal = 10_u64.checked_pow(digits) == Some(denominator);
    usize::try_from(digits).ok().filter(|_| is_decimal)
}

/// The number that an object is, with its sign.
fn signed(evaluator: &Evaluator<'_>, object: &Object) -> Option<i64> {
    i64::try_from(object.number(evaluator.process()).ok()?.value()?).ok()
}

fn year_of(year: i64) -> String {
    let sign = if year < 0 { "-" } else { "" };
    format!("{sign}{:04}", year.unsigned_abs())
}

fn month_of(month: u64) -> String {
    let name = month.checked_sub(1).and_then(|index| MONTHS.get(usize::try_from(index).ok()?));
    name.map_or_else(|| format!("{month} is not a valid month"), |name| (*name).to_owned())
}

fn day_of(day: u64) -> String {
    match day {
        1..=31 => format!("{day:02}"),
        _ => format!("{day:02} is not a valid day"),
    }
}

fn weekday_of(weekday: u64) -> String {
    let name = usize::try_from(weekday).ok().and_then(|index| WEEKDAYS.get(index));
    name.map_or_else(|| format!("{weekday} is not a valid weekday"), |name| (*name).to_owned())
}
