//! References to one bit of `std::vector<bool>` or `std::bitset`, shown as the bit.

use kcore_symbols::BitField;

use crate::{
    Content, Object, ObjectPlace,
    eval::Evaluator,
    printers::{Printer, made::bool_type},
};

/// A reference to one bit.
pub struct BitReference;

impl Printer for BitReference {
    fn families(&self) -> &'static [&'static str] {
        &[
            "std::_Bit_reference",
            "std::__bit_reference",
            "std::__bit_const_reference",
            "std::bitset::reference",
        ]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let at = evaluator.pointer_in(object, &["_M_p", "_M_wp", "__seg_"])?;
        let offset = match evaluator.number_in(object, &["_M_mask", "__mask_"]) {
            Some(mask) => u64::from(mask.is_power_of_two().then(|| mask.trailing_zeros())?),
            None => evaluator.number_in(object, &["_M_bpos"])?,
        };
        let place = ObjectPlace::Bits(at, BitField { offset, size: 1 });
        Some(evaluator.value(&Object { ty: bool_type(), place }).content)
    }
}
