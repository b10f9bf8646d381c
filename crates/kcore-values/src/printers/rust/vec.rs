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
        let size = evaluator.complete(&element)?.size()?;
        let (first, len) = buffer(evaluator, object, size)?;
        evaluator.contiguous(&element, first, len)
    }
}

/// Where the elements of a vector are, which have so many bytes each, and how many there are.
pub fn buffer(evaluator: &Evaluator<'_>, vector: &Object, size: u64) -> Option<(Addr, u64)> {
    let first = evaluator.number(&evaluator.dig_pointer(&evaluator.dig(vector, &["ptr"])?)?)?;
    let len = evaluator.number_in(vector, &["len"])?;
    let capacity = evaluator.number_in(vector, &["cap"])?;
    // Of elements without size there is room for any number, and no capacity is kept.
    (len <= capacity || size == 0).then(|| (Addr::new(first), len))
}
