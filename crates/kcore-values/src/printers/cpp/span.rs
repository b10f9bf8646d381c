//! `std::span` and `std::initializer_list`.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Elements that lie elsewhere.
pub struct Span;

impl Printer for Span {
    fn families(&self) -> &'static [&'static str] {
        &["std::span", "std::initializer_list"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let element = evaluator.argument(&object.ty, 0)?;
        let first = evaluator
            .pointer_in(object, &["_M_ptr", "_M_array", "__data_", "__data", "__begin_"])?;
        let len = ["_M_extent_value", "_M_len", "__size_", "__size"];
        let len = evaluator.number_in(object, &len).or_else(|| extent(object))?;
        evaluator.contiguous(&element, first, len)
    }
}

/// The length of a span that is part of its type.
fn extent(object: &Object) -> Option<u64> {
    let extent = object.ty.composite()?.arguments.get(1)?.value?;
    u64::try_from(extent).ok()
}
