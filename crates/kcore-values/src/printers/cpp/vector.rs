//! `std::vector`, that of `bool` included.

use kcore_mem::Addr;
use kcore_symbols::{Encoding, Type, TypeKind};

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Elements one behind the other.
pub struct Vector;

impl Printer for Vector {
    fn families(&self) -> &'static [&'static str] {
        &["std::vector"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let element = evaluator.argument(&object.ty, 0)?;
        if is_bool(evaluator, &element) {
            let (first, count) = packed(evaluator, object)?;
            return evaluator.bits(&element, first, count);
        }
        let first = evaluator.pointer_in(object, &["_M_start", "__begin_"])?;
        let end = evaluator.pointer_in(object, &["_M_finish", "__end_"])?;
        let limit = evaluator.pointer_in(object, &["_M_end_of_storage", "__end_cap_", "__cap_"])?;
        let size = evaluator.complete(&element)?.size().filter(|size| *size > 0)?;
        let bytes = end.offset_from(first)?;
        if end > limit || bytes.checked_rem(size)? != 0 {
            return None;
        }
        evaluator.contiguous(&element, first, bytes.checked_div(size)?)
    }
}

fn is_bool(evaluator: &Evaluator<'_>, element: &Type) -> bool {
    let ty = evaluator.complete(element);
    ty.is_some_and(
        |ty| matches!(ty.kind(), TypeKind::Base(base) if base.encoding == Encoding::Bool),
    )
}

/// Where the bits of a vector of `bool` begin, and how many they are.
fn packed(evaluator: &Evaluator<'_>, object: &Object) -> Option<(Addr, u64)> {
    let Some(start) = evaluator.dig(object, &["_M_start"]) else {
        let first = evaluator.pointer_in(object, &["__begin_"])?;
        return Some((first, evaluator.number_in(object, &["__size_"])?));
    };
    let finish = evaluator.dig(object, &["_M_finish"])?;
    let first = evaluator.pointer_in(&start, &["_M_p"])?;
    let last = evaluator.pointer_in(&finish, &["_M_p"])?;
    let offset = evaluator.number_in(&finish, &["_M_offset"])?;
    let count = last.offset_from(first)?.checked_mul(8)?.checked_add(offset)?;
    Some((first, count))
}
