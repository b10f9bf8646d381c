//! `std::shared_ptr` and `std::weak_ptr`, with how many there are of each.

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
        let at = pointer.pointer(evaluator.process()).ok()?;
        let counts = match evaluator.number(&block)? {
            0 => Vec::new(),
            _ => counts(evaluator, &block)?,
        };
        let is_owner = !object.ty.name()?.starts_with("weak_ptr");
        match pointer.target(evaluator.process()) {
            Ok(target) if is_owner => evaluator.owner(&target, counts),
            _ => Some(evaluator.bare(at, counts)),
        }
    }
}

/// All owners together count as one observer in libstdc++; libc++ counts both from -1, and
/// owners as one observer as well.
fn counts(evaluator: &Evaluator<'_>, block: &Object) -> Option<Counts> {
    let block = block.target(evaluator.process()).ok()?;
    let count = |name: &str| {
        let count = evaluator.dig(&block, &[name])?.number(evaluator.process()).ok()?.value()?;
        i64::try_from(count).ok()
    };
    let (owners, observers) = match (count("_M_use_count"), count("_M_weak_count")) {
        (Some(owners), Some(observers)) => (owners, observers.checked_sub(i64::from(owners > 0))?),
        _ => (count("__shared_owners_")?.checked_add(1)?, count("__shared_weak_owners_")?),
    };
    let counted = |count| u64::try_from(count).ok();
    Some(vec![("use", counted(owners)?), ("weak", counted(observers)?)])
}
