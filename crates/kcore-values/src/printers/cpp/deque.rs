//! `std::deque`: blocks of elements, and an array of pointers to them.

use kcore_mem::Addr;
use kcore_symbols::Type;

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Elements in blocks.
pub struct Deque;

impl Printer for Deque {
    fn families(&self) -> &'static [&'static str] {
        &["std::deque"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let element = evaluator.argument(&object.ty, 0)?;
        let size = evaluator.complete(&element)?.size().filter(|size| *size > 0)?;
        let blocks =
            libstdcxx(evaluator, object, size).or_else(|| libcxx(evaluator, object, size))?;
        evaluator.sequence(blocks.count, |evaluator, index| {
            blocks.element(evaluator, &element, size, index)
        })
    }
}

/// Where the elements are.
struct Blocks {
    /// The pointer to the block of the first element.
    map: Addr,
    /// Elements of a block.
    per_block: u64,
    /// Elements of the first block before the first.
    skipped: u64,
    /// Elements in all.
    count: u64,
}

impl Blocks {
    fn element(
        &self,
        evaluator: &Evaluator<'_>,
        ty: &Type,
        size: u64,
        index: u64,
    ) -> Option<Object> {
        let position = self.skipped.checked_add(index)?;
        let block = position.checked_div(self.per_block)?.checked_mul(evaluator.word())?;
        let into = position.checked_rem(self.per_block)?.checked_mul(size)?;
        let block = evaluator.pointer_at(self.map, block)?;
        Some(Object::at(ty.clone(), block.checked_add(into)?))
    }
}

fn libstdcxx(evaluator: &Evaluator<'_>, object: &Object, size: u64) -> Option<Blocks> {
    let start = evaluator.dig(object, &["_M_start"])?;
    let finish = evaluator.dig(object, &["_M_finish"])?;
    let pointer = |iterator: &Object, name| evaluator.pointer_in(iterator, &[name]);
    let first = pointer(&start, "_M_first")?;
    let map = pointer(&start, "_M_node")?;
    let per_block = pointer(&start, "_M_last")?.offset_from(first)?.checked_div(size)?;
    let skipped = pointer(&start, "_M_cur")?.offset_from(first)?.checked_div(size)?;
    let blocks = pointer(&finish, "_M_node")?.offset_from(map)?.checked_div(evaluator.word())?;
    let in_last = pointer(&finish, "_M_cur")?.offset_from(pointer(&finish, "_M_first")?)?;
    let end = blocks.checked_mul(per_block)?.checked_add(in_last.checked_div(size)?)?;
    let count = end.checked_sub(skipped)?;
    (per_block > 0 && (count == 0 || evaluator.is_mapped(map))).then_some(Blocks {
        map,
        per_block,
        skipped,
        count,
    })
}

/// A block of libc++ has 4096 bytes, and at least 16 elements (`__deque_block_size`).
fn libcxx(evaluator: &Evaluator<'_>, object: &Object, size: u64) -> Option<Blocks> {
    let buffer = evaluator.dig(object, &["__map_"])?;
    let map = evaluator.pointer_in(&buffer, &["__begin_"])?;
    let end = evaluator.pointer_in(&buffer, &["__end_"])?;
    let skipped = evaluator.number_in(object, &["__start_"])?;
    let count = evaluator.number_in(object, &["__size_"])?;
    let per_block = if size < 256 { 4096_u64.checked_div(size)? } else { 16 };
    let room = end.offset_from(map)?.checked_div(evaluator.word())?.checked_mul(per_block)?;
    (skipped.checked_add(count)? <= room).then_some(Blocks { map, per_block, skipped, count })
}
