//! Slices.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// A part of an array.
pub struct Slice;

impl Printer for Slice {
    fn families(&self) -> &'static [&'static str] {
        &["go::[]"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let array = evaluator.member(object, "array")?;
        let len = evaluator.number_in(object, &["len"])?;
        let capacity = evaluator.number_in(object, &["cap"])?;
        let first = array.target(evaluator.process()).ok()?;
        match len <= capacity {
            true => evaluator.contiguous(&first.ty, first.address()?, len),
            false => None,
        }
    }
}
