//! `QUuid` (QtCore/quuid.h of Qt 5 and 6): a number of 128 bits in four parts.

use std::fmt::Write as _;

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Bytes at its end, which are an array.
const LAST: u64 = 8;

/// A number of 128 bits, as Qt writes it.
pub struct Uuid;

impl Printer for Uuid {
    fn families(&self) -> &'static [&'static str] {
        &["QUuid"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let part = |name| evaluator.number_in(object, &[name]);
        let mut words = String::from("{");
        write!(words, "{:08x}-{:04x}-{:04x}-", part("data1")?, part("data2")?, part("data3")?)
            .ok()?;
        let last = evaluator.member(object, "data4")?.place.read(evaluator.process(), LAST).ok()?;
        for (index, byte) in last.iter().enumerate() {
            let hyphen = if index == 2 { "-" } else { "" };
            write!(words, "{hyphen}{byte:02x}").ok()?;
        }
        words.push('}');
        let ty = evaluator.complete(&object.ty)?;
        Some(evaluator.raw(object, &ty).ok()?.meaning(words))
    }
}
