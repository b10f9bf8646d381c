//! Values of D and Pascal that have a length beside what they hold. gdc 12 and DMD describe slices of D as structures of
//! `length` and `ptr`, Free Pascal 3.2 its short strings as `length` and `st`.

use kcore_symbols::Type;

use super::Printer;
use crate::{Content, Object, eval::Evaluator};

/// Types of characters of D.
const CHARACTERS: &[&str] = &["char", "wchar", "dchar"];

/// A part of an array of D, or its text: `int[]`, `string`.
pub struct Slice;

impl Printer for Slice {
    fn families(&self) -> &'static [&'static str] {
        &["d::[]"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let count = evaluator.number_in(object, &["length"])?;
        let first = evaluator.member(object, "ptr")?.target(evaluator.process()).ok()?;
        let element = first.ty.stripped().ok()?;
        match unit_of(&element) {
            Some(unit) => evaluator.text(first.address()?, count, unit),
            None => evaluator.contiguous(&first.ty, first.address()?, count),
        }
    }
}

fn unit_of(element: &Type) -> Option<u64> {
    let is_one = element.name().is_some_and(|name| CHARACTERS.contains(&name));
    element.size().filter(|_| is_one)
}

/// A string of Pascal of at most 255 characters.
pub struct ShortString;

impl Printer for ShortString {
    fn families(&self) -> &'static [&'static str] {
        &["pascal::shortstring"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let length = evaluator.number_in(object, &["length"])?;
        let at = evaluator.member(object, "st")?.address()?;
        evaluator.text(at, length, 1)
    }
}
