//! `std::unique_ptr`.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// The one owner of an object.
pub struct UniquePtr;

impl Printer for UniquePtr {
    fn families(&self) -> &'static [&'static str] {
        &["std::unique_ptr"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        // Before gcc 7 the tuple of pointer and deleter lay in the object itself.
        let pointer = evaluator.dig(object, &["_M_head_impl", "__ptr_"])?;
        let pointer = evaluator.dig_pointer(&pointer)?;
        match pointer.target(evaluator.process()) {
            Ok(target) => evaluator.owner(&target, Vec::new()),
            Err(_) => Some(evaluator.bare(pointer.pointer(evaluator.process()).ok()?, Vec::new())),
        }
    }
}
