//! `Vec`.

use kcore_mem::Addr;

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Elements one behind the other.
pub struct Vector;

impl Printer for Vector {
    fn families(&self) -> &'static [&'static str] {
        &["rust::Vec"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let element = evaluator.argument(&object.ty, 0)?;
        let (first, len) = buffer(evaluator, object)?;
        evaluator.contiguous(&element, first, len)
    }
}

/// Where the elements of a vector are, and how many.
pub fn buffer(evaluator: &Evaluator<'_>, vector: &Object) -> Option<(Addr, u64)> {
    let first = evaluator.number(&evaluator.dig_pointer(&evaluator.dig(vector, &["ptr"])?)?)?;
    let len = evaluator.number_in(vector, &["len"])?;
    let capacity = evaluator.number_in(vector, &["cap"])?;
    // Of elements without size there is room for any number, and no capacity is kept.
    (len <= capacity || capacity == 0).then(|| (Addr::new(first), len))
}
