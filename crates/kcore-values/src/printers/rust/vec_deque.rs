//! `VecDeque`: a ring of elements.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Elements in a ring.
pub struct VecDeque;

impl Printer for VecDeque {
    fn families(&self) -> &'static [&'static str] {
        &["rust::VecDeque"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let element = evaluator.argument(&object.ty, 0)?;
        let size = evaluator.complete(&element)?.size()?;
        let first = evaluator.dig_pointer(&evaluator.dig(object, &["ptr"])?)?;
        let first = kcore_mem::Addr::new(evaluator.number(&first)?);
        let capacity = evaluator.number_in(object, &["cap"])?;
        let head = evaluator.number_in(object, &["head"])?;
        // Until 1.66 `head` was where the next element would go, and `tail` the first.
        let (start, len) = match evaluator.number_in(object, &["tail"]) {
            Some(tail) => (tail, head.wrapping_sub(tail) & capacity.checked_sub(1)?),
            None => (head, evaluator.number_in(object, &["len"])?),
        };
        let is_torn = len > capacity || start >= capacity || !evaluator.is_mapped(first);
        if size > 0 && len > 0 && is_torn {
            return None;
        }
        evaluator.sequence(len, |_, index| {
            let position = start.checked_add(index)?;
            let position = if size > 0 { position.checked_rem(capacity)? } else { 0 };
            let at = first.checked_add(position.checked_mul(size)?)?;
            Some(Object::at(element.clone(), at))
        })
    }
}
