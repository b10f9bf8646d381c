//! `QDate`, `QTime` and `QDateTime` (QtCore/qdatetime.h of Qt 5.15 and 6).

use crate::{
    Content, Object,
    calendar::{self, CivilDay},
    eval::Evaluator,
    printers::Printer,
};

/// The Julian day of 1970-01-01.
const EPOCH: i128 = 2_440_588;
/// Milliseconds of a day.
const DAY: i128 = 86_400_000;

/// A date, a time of a day, or both.
pub struct Moment;

impl Printer for Moment {
    fn families(&self) -> &'static [&'static str] {
        &["QDate", "QTime", "QDateTime"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let words = match object.ty.name()? {
            "QDate" => date(signed(evaluator, object, "jd")?)?,
            "QTime" => time(signed(evaluator, object, "mds")?)?,
            _ => moment(evaluator, object)?,
        };
        let ty = evaluator.complete(&object.ty)?;
        Some(evaluator.raw(object, &ty).ok()?.meaning(words))
    }
}

fn signed(evaluator: &Evaluator<'_>, object: &Object, name: &str) -> Option<i128> {
    evaluator.member(object, name)?.number(evaluator.process()).ok()?.value()
}

/// A date by its Julian day; the lowest number of all is none.
fn date(day: i128) -> Option<String> {
    if day == i128::from(i64::MIN) {
        return Some("no date".to_owned());
    }
    Some(CivilDay::since_1970(day.checked_sub(EPOCH)?)?.to_string())
}

/// A time by the milliseconds since midnight; -1 is none.
fn time(since_midnight: i128) -> Option<String> {
    if since_midnight == -1 {
        return Some("no time".to_owned());
    }
    if !(0..DAY).contains(&since_midnight) {
        return None;
    }
    let of_first_day = calendar::moment(since_midnight, 1, 1000)?;
    Some(of_first_day.split_once(' ')?.1.to_owned())
}

/// `QDateTimePrivate::StatusFlag`: it lies in the pointer itself; it is valid; in which time it is.
const SHORT: u64 = 1;
const VALID: u64 = 8;
const TIME_OF: u64 = 0x30;
const LOCAL: u64 = 0;
const UTC: u64 = 0x10;

/// A moment that is not far away, and in local time or UTC, lies in the pointer itself. What a pointer leads to is private
/// to Qt.
fn moment(evaluator: &Evaluator<'_>, object: &Object) -> Option<String> {
    let data = evaluator.member(&evaluator.member(object, "d")?, "data")?;
    let status = evaluator.number(&evaluator.member(&data, "status")?)?;
    if status & SHORT == 0 {
        return None;
    }
    if status & VALID == 0 {
        return Some("no moment".to_owned());
    }
    let words = calendar::moment(signed(evaluator, &data, "msecs")?, 1, 1000)?;
    match status & TIME_OF {
        LOCAL => Some(format!("{words} local time")),
        UTC => Some(format!("{words} UTC")),
        _ => None,
    }
}
