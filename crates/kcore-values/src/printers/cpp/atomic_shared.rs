//! `std::atomic`, of numbers and of shared pointers.

use super::shared_ptr;
use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// The lowest bit of the address of the counts: somebody changes the pointer (`_Sp_atomic::_Atomic_count`).
const LOCKED: u64 = 1;

/// Something that threads change at once.
pub struct Atomic;

impl Printer for Atomic {
    fn families(&self) -> &'static [&'static str] {
        &["std::atomic", "std::atomic_flag"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        match evaluator.dig(object, &["_M_refcount"]) {
            Some(counted) => shared(evaluator, object, &counted),
            None => {
                let held = ["_M_i", "_M_p", "_M_fp", "__a_value"];
                let held = evaluator.dig(object, &held)?;
                Some(evaluator.value(&held).content)
            }
        }
    }
}

/// `_Sp_atomic` of libstdc++ 12: the pointer, and the address of the counts as a number.
fn shared(evaluator: &mut Evaluator<'_>, object: &Object, counted: &Object) -> Option<Content> {
    let pointer = evaluator.dig(object, &["_M_ptr"])?;
    let block = evaluator.dig_number(counted)? & !LOCKED;
    let held = evaluator.complete(&evaluator.argument(&object.ty, 0)?)?;
    let is_owner = !held.name()?.starts_with("weak_ptr");
    let block = kcore_mem::Addr::new(block);
    shared_ptr::content(evaluator, &pointer, block, is_owner)
}
