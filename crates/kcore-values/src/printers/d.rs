//! Slices of D, which gdc 12 describes as structures of `length` and `ptr`.

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
