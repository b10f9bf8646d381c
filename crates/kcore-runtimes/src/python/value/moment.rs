//! `datetime`: `PyDateTime_Date`, `_Time`, `_DateTime` and `_Delta` of `Include/datetime.h`, `PyDateTime_TimeZone` of
//! `Modules/_datetimemodule.c` (3.8 to 3.15).

use std::sync::Arc;

use super::{super::heap::Object, Value, ValueKind, reader::Reader};

/// Behind the header and the hash: `hastzinfo`, and the bytes of the date or time.
const HAS_ZONE: u64 = 24;
const BYTES: u64 = 25;
/// `days`, `seconds` and `microseconds` of a difference, each an `int`.
const DIFFERENCE: [(&str, u64); 3] = [("days", 24), ("seconds", 28), ("microseconds", 32)];
/// `offset` and `name` of a zone.
const ZONE: [u64; 2] = [16, 24];

/// What a type keeps.
struct Shape {
    /// Bytes of the date, and of the time behind it.
    date: usize,
    time: usize,
    /// `tzinfo`.
    zone: Option<u64>,
}

const DATE: Shape = Shape { date: 4, time: 0, zone: None };
const TIME: Shape = Shape { date: 0, time: 6, zone: Some(32) };
const BOTH: Shape = Shape { date: 4, time: 6, zone: Some(40) };

impl Reader<'_> {
    /// A date, a time, both, a difference or a zone, as its constructor takes it.
    pub(super) fn moment(&mut self, object: Object, native: &str) -> Option<ValueKind> {
        let (arguments, named) = match native {
            "date" => self.shaped(object, &DATE)?,
            "time" => self.shaped(object, &TIME)?,
            "datetime" => self.shaped(object, &BOTH)?,
            "timedelta" => self.difference(object)?,
            "timezone" => {
                let [offset, name] = ZONE.map(|offset| self.heap.field(object.at, offset));
                let mut arguments = vec![self.value(offset?)];
                arguments.extend(name.map(|name| self.value(name)));
                (arguments, Vec::new())
            }
            _ => return None,
        };
        Some(self.call(object, arguments, named))
    }

    fn shaped(&mut self, object: Object, shape: &Shape) -> Option<Call> {
        let size = shape.date.checked_add(shape.time)?;
        let bytes = self.heap.space.read_held(object.at.checked_add(BYTES)?, size as u64);
        let (date, time) = bytes.split_at_checked(shape.date)?;
        (time.len() == shape.time).then_some(())?;
        let date = match date {
            [high, low, month, day] => {
                let year = u16::from_be_bytes([*high, *low]);
                is_date(year, *month, *day).then_some(())?;
                vec![u32::from(year), u32::from(*month), u32::from(*day)]
            }
            _ => Vec::new(),
        };
        let arguments = date.into_iter().chain(clock(time)?).map(Value::of_int).collect();
        let named = match shape.zone {
            Some(zone) => self.zone(object, size as u64, zone)?,
            None => Vec::new(),
        };
        Some((arguments, named))
    }

    /// `fold`, which lies behind the time, and the zone, where there are any.
    fn zone(&mut self, object: Object, size: u64, zone: u64) -> Option<Vec<(Arc<str>, Value)>> {
        let mut named = Vec::new();
        if self.heap.uint(object.at, BYTES.checked_add(size)?, 1)? != 0 {
            named.push(("fold".into(), Value::of_int(1)));
        }
        if self.heap.uint(object.at, HAS_ZONE, 1)? != 0 {
            let zone = self.heap.pointer(object.at, zone)?;
            named.push(("tzinfo".into(), self.at(zone)));
        }
        Some(named)
    }

    fn difference(&self, object: Object) -> Option<Call> {
        let mut named = Vec::new();
        for (name, offset) in DIFFERENCE {
            let number = self.heap.int(object.at, offset)?;
            (name == "days" || number >= 0).then_some(())?;
            if number != 0 {
                named.push((name.into(), Value::of_int(number)));
            }
        }
        let none = if named.is_empty() { vec![Value::of_int(0)] } else { Vec::new() };
        Some((none, named))
    }
}

/// Arguments, and those with names.
type Call = (Vec<Value>, Vec<(Arc<str>, Value)>);

const fn is_date(year: u16, month: u8, day: u8) -> bool {
    year > 0 && year < 10_000 && month > 0 && month < 13 && day > 0 && day < 32
}

/// Hour, minute, and, as far as they are not zero, second and microsecond; nothing of no time.
fn clock(time: &[u8]) -> Option<Vec<u32>> {
    let [hour, minute, second, high, middle, low] = time else { return Some(Vec::new()) };
    let micro = u32::from_be_bytes([0, *high, *middle, *low]);
    (*hour < 24 && *minute < 60 && *second < 60 && micro < 1_000_000).then_some(())?;
    let mut clock = vec![(*hour).into(), (*minute).into(), (*second).into(), micro];
    while clock.len() > 2 && clock.last() == Some(&0) {
        clock.pop();
    }
    Some(clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_at_the_end_of_a_time_are_left_out() {
        assert_eq!(clock(&[0, 0, 0, 0, 0, 0]), Some(vec![0, 0]));
        assert_eq!(clock(&[1, 2, 0, 0x0f, 0x42, 0x3f]), Some(vec![1, 2, 0, 999_999]));
        assert_eq!(clock(&[24, 0, 0, 0, 0, 0]), None);
        assert_eq!(clock(&[]), Some(Vec::new()));
    }
}
