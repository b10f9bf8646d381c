//! `std::array`.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// An array in a structure.
pub struct Array;

impl Printer for Array {
    fn families(&self) -> &'static [&'static str] {
        &["std::array"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        match evaluator.member(object, "_M_elems").or_else(|| evaluator.member(object, "__elems_"))
        {
            Some(array) => Some(evaluator.value(&array).content),
            // An array without elements has no such member either.
            None => evaluator.sequence(0, |_, _| None),
        }
    }
}
