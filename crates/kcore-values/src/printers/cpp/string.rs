//! `std::basic_string`: text in the object itself while it is short.

use kcore_mem::{Addr, Endian};
use kcore_symbols::MemberPlace;

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Strings of all kinds of characters.
pub struct BasicString;

impl Printer for BasicString {
    fn families(&self) -> &'static [&'static str] {
        &["std::basic_string"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let character = evaluator.argument(&object.ty, 0)?;
        let unit =
            evaluator.complete(&character)?.size().filter(|size| matches!(size, 1 | 2 | 4))?;
        let (at, len) = libstdcxx(evaluator, object, unit).or_else(|| libcxx(evaluator, object))?;
        evaluator.text(at, len, unit)
    }
}

/// Of libstdc++; until gcc 5, and later on demand, its length stands before the characters.
fn libstdcxx(evaluator: &Evaluator<'_>, object: &Object, unit: u64) -> Option<(Addr, u64)> {
    let at = evaluator.pointer_in(object, &["_M_p"])?;
    let Some(len) = evaluator.number_in(object, &["_M_string_length"]) else {
        return copied_on_write(evaluator, at);
    };
    let local = evaluator.dig(object, &["_M_local_buf"])?;
    let capacity = match local.address() == Some(at) {
        true => evaluator.complete(&local.ty)?.size()?.checked_div(unit)?,
        false => evaluator.number_in(object, &["_M_allocated_capacity"])?,
    };
    (len <= capacity).then_some((at, len))
}

/// Length, capacity and a count of references stand before the characters (`_Rep_base`).
fn copied_on_write(evaluator: &Evaluator<'_>, at: Addr) -> Option<(Addr, u64)> {
    let word = evaluator.word();
    let before = Addr::new(at.get().checked_sub(word.checked_mul(3)?)?);
    let len = evaluator.pointer_at(before, 0)?.get();
    let capacity = evaluator.pointer_at(before, word)?.get();
    (len <= capacity).then_some((at, len))
}

/// Of libc++: two structures at one place, and one bit that says which of them counts.
fn libcxx(evaluator: &Evaluator<'_>, object: &Object) -> Option<(Addr, u64)> {
    let short = evaluator.dig(object, &["__s"])?;
    let long = evaluator.dig(object, &["__l"])?;
    if is_long(evaluator, object, &short)? {
        let at = evaluator.pointer_in(&long, &["__data_"])?;
        let len = evaluator.number_in(&long, &["__size_"])?;
        let capacity = evaluator.number_in(&long, &["__cap_"])?;
        // The capacity may have been stored by halves.
        return (len <= capacity.saturating_mul(2)).then_some((at, len));
    }
    let data = evaluator.dig(&short, &["__data_"])?;
    let size = evaluator.number_in(&short, &["__size_"])?;
    let has_flag = evaluator.dig(&short, &["__is_long_"]).is_some();
    let len = if has_flag || is_flag_high(evaluator, &short)? { size & 0x7f } else { size >> 1 };
    let room = evaluator.complete(&data.ty)?.size()?;
    (len <= room).then_some((data.address()?, len))
}

fn is_long(evaluator: &Evaluator<'_>, _object: &Object, short: &Object) -> Option<bool> {
    if let Some(flag) = evaluator.number_in(short, &["__is_long_"]) {
        return Some(flag != 0);
    }
    let size = evaluator.number_in(short, &["__size_"])?;
    let mask = if is_flag_high(evaluator, short)? { 0x80 } else { 1 };
    Some(size & mask != 0)
}

/// Whether the bit is the highest of its byte (until llvm 14): where the size comes last, and, of
/// either order of bytes, not both.
fn is_flag_high(evaluator: &Evaluator<'_>, short: &Object) -> Option<bool> {
    let ty = evaluator.complete(&short.ty)?;
    let mut members = ty.composite()?.members.iter();
    let data = members.find(|member| member.name.as_deref() == Some("__data_"))?;
    let is_alternate = data.place == MemberPlace::Offset(0);
    let is_big = evaluator.process().space().target().endian == Endian::Big;
    Some(is_alternate != is_big)
}
