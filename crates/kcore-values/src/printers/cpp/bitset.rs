//! `std::bitset`: bits from the least significant one on.

use crate::{
    Content, Object,
    eval::Evaluator,
    printers::{Printer, made::bool_type},
};

/// So many bits.
pub struct Bitset;

impl Printer for Bitset {
    fn families(&self) -> &'static [&'static str] {
        &["std::bitset"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let count = object.ty.composite()?.arguments.first()?.value?;
        let count = u64::try_from(count).ok()?;
        if count == 0 {
            return evaluator.sequence(0, |_, _| None);
        }
        let words = evaluator.dig(object, &["_M_w", "__first_"])?;
        let room = evaluator.complete(&words.ty)?.size()?.checked_mul(8)?;
        let first = words.address().filter(|_| count <= room)?;
        evaluator.bits(&bool_type(), first, count)
    }
}
