//! `std::shared_ptr` and `std::weak_ptr`, with how many there are of each.

use kcore_mem::Addr;

use crate::{
    Content, Object,
    eval::Evaluator,
    printers::{Printer, owner::Counts},
};

/// One of the owners of an object, or an observer of it.
pub struct SharedPtr;

impl Printer for SharedPtr {
    fn families(&self) -> &'static [&'static str] {
        &["std::shared_ptr", "std::weak_ptr"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let pointer = evaluator.dig(object, &["_M_ptr", "__ptr_"])?;
        let block = evaluator.dig(object, &["_M_pi", "__cntrl_"])?;
        let is_owner = !object.ty.name()?.starts_with("weak_ptr");
        let is_libcxx = evaluator.member(object, "__cntrl_").is_some();
        let block = Addr::new(evaluator.number(&block)?);
        shown(evaluator, &pointer, counts(evaluator, block, is_libcxx)?, is_owner)
    }
}

/// A pointer of libstdc++ whose counts lie at `block`, or that has none.
pub fn content(
    evaluator: &mut Evaluator<'_>,
    pointer: &Object,
    block: Addr,
    is_owner: bool,
) -> Option<Content> {
    let counts = counts(evaluator, block, false)?;
    shown(evaluator, pointer, counts, is_owner)
}

fn shown(
    evaluator: &mut Evaluator<'_>,
    pointer: &Object,
    counts: Counts,
    is_owner: bool,
) -> Option<Content> {
    let at = pointer.pointer(evaluator.process()).ok()?;
    match pointer.target(evaluator.process()) {
        Ok(target) if is_owner => evaluator.owner(&target, counts),
        _ => Some(evaluator.bare(at, counts)),
    }
}

/// The counts behind the table of virtual functions of a block, whose class clang may only declare. libstdc++ has
/// two of 32 bits (`_Sp_counted_base`), libc++ two words (`__shared_weak_count`), which both count from -1. In both all
/// owners together count as one observer.
fn counts(evaluator: &Evaluator<'_>, block: Addr, is_libcxx: bool) -> Option<Counts> {
    if block.get() == 0 {
        return Some(Vec::new());
    }
    let size = if is_libcxx { evaluator.word() } else { 4 };
    let count = |index: u64| {
        let into = evaluator.word().checked_add(index.checked_mul(size)?)?;
        let at = block.checked_add(into)?;
        let space = evaluator.process().space();
        let bits = space.read_uint(at, usize::try_from(size).ok()?).ok()?;
        let unused = 64_u64.checked_sub(size.checked_mul(8)?)?;
        Some(bits.checked_shl(u32::try_from(unused).ok()?)?.cast_signed() >> unused)
    };
    let first = i64::from(is_libcxx);
    let (owners, observers) = (count(0)?.checked_add(first)?, count(1)?.checked_add(first)?);
    let observers = observers.checked_sub(i64::from(owners > 0))?;
    let counted = |count| u64::try_from(count).ok();
    Some(vec![("use", counted(owners)?), ("weak", counted(observers)?)])
}
