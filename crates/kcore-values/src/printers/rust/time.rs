//! `std::time`: spans, and points of time of the two clocks.

use crate::{Content, Object, calendar::moment, eval::Evaluator, printers::Printer};

/// Nanoseconds of a second.
const NANOSECONDS: u64 = 1_000_000_000;

/// A span or a point of time.
pub struct Time;

impl Printer for Time {
    fn families(&self) -> &'static [&'static str] {
        &["rust::Duration", "rust::Instant", "rust::SystemTime"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let seconds = evaluator.dig(object, &["secs", "tv_sec"])?;
        let seconds = i64::try_from(seconds.number(evaluator.process()).ok()?.value()?).ok()?;
        let nanoseconds = evaluator.number_in(object, &["nanos", "tv_nsec"])?;
        let nanoseconds = Some(nanoseconds).filter(|part| *part < NANOSECONDS)?;
        let words = match object.ty.stripped().ok()?.name()? {
            "SystemTime" => {
                let whole = i128::from(seconds).checked_mul(NANOSECONDS.into())?;
                let count = whole.checked_add(nanoseconds.into())?;
                format!("{} UTC", moment(count, 1, NANOSECONDS.into())?)
            }
            // An instant has no meaning but what lies between two: those of Linux count from its start.
            _ => {
                let seconds = u64::try_from(seconds).ok()?;
                let nanoseconds = u32::try_from(nanoseconds).ok()?;
                format!("{:?}", std::time::Duration::new(seconds, nanoseconds))
            }
        };
        let ty = evaluator.complete(&object.ty)?;
        Some(evaluator.raw(object, &ty).ok()?.meaning(words))
    }
}
