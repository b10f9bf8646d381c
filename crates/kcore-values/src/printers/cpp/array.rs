//! `std::array`.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// An array in a structure.
pub struct Array;

impl Printer for Array {
    fn families(&self) -> &'static [&'static str] {
        &["std::array"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let count = object.ty.composite()?.arguments.get(1)?.value?;
        if count == 0 {
            return evaluator.sequence(0, |_, _| None);
        }
        let array = evaluator.dig(object, &["_M_elems", "__elems_"])?;
        Some(evaluator.value(&array).content)
    }
}
