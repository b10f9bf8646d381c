//! The sizes of the classes of small blocks (`SizeMap::class_to_size_`).

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddressSpace};

use super::descriptors::Descriptors;
use super::map::{EVERYWHERE, Map};
use super::objects::Objects;
use super::span::Content;
use crate::module_words::each_word;
use crate::{HeapHost, HeapModule};

const HALF: u64 = 4;
/// Size classes that are read, at most: 89 for each of two NUMA nodes, and 89 for memory that is seldom used.
const MAX_CLASSES: u64 = 89 * 3;
/// Classes that show that a table is one.
const ENOUGH: usize = 24;
/// The largest block of a class (`kMaxSize`), and the unit of all.
const MAX_SIZE: u64 = 256 << 10;
const UNIT: u64 = 8;
/// Spans that a table is tried on.
const SPANS: u64 = 512;

/// The sizes of all classes by their numbers: 0 for those that have none, as class 0. `None` where no table of the module
/// fits the spans.
pub(super) fn find(
    host: &dyn HeapHost,
    module: &dyn HeapModule,
    map: &Map,
    descriptors: &Descriptors,
) -> Option<Vec<u64>> {
    let space = host.space();
    let mut found = None;
    for range in module.data() {
        let _ = each_word(space, range, &mut |at, word| {
            let (low, high) = (word & 0xffff_ffff, word >> 32);
            // The table begins with 0 and 8, and need not lie at a multiple of eight.
            let begin = match (low, high) {
                (0, UNIT) => Some(at),
                (UNIT, 9..) => at.get().checked_sub(HALF).map(Addr::new),
                _ => None,
            };
            let table = begin.and_then(|begin| table(space, begin));
            found = table.filter(|sizes| fits(space, map, descriptors, sizes));
            if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if found.is_some() {
            break;
        }
    }
    found
}

/// The table that begins at an address, if its sizes ascend.
fn table(space: &dyn AddressSpace, begin: Addr) -> Option<Vec<u64>> {
    let size = |class: u64| {
        let at = begin.saturating_add(class.wrapping_mul(HALF));
        space.read_uint(at, HALF as usize).ok()
    };
    let is_size = |size: &u64| *size <= MAX_SIZE && size.is_multiple_of(UNIT);
    let sizes: Vec<u64> = (0..MAX_CLASSES).map_while(size).take_while(is_size).collect();
    let ascending = sizes.windows(2).take_while(|pair| pair.first() < pair.get(1)).count();
    (ascending >= ENOUGH).then_some(sizes)
}

/// Whether the spans have room for the blocks that they handed out and those that they have.
fn fits(space: &dyn AddressSpace, map: &Map, descriptors: &Descriptors, sizes: &[u64]) -> bool {
    let (mut right, mut seen) = (0_u64, 0_u64);
    let _ = map.each_span(space, descriptors, EVERYWHERE, &mut |span| {
        let Content::Small(class) = span.content else { return ControlFlow::Continue(()) };
        let size = sizes.get(usize::from(class)).copied().filter(|size| *size > 0);
        let is_right = size.is_some_and(|size| {
            let objects = Objects::of(space, map.layout, &span, size);
            let counted = objects.count.saturating_add(span.handed_out(size));
            objects.broken.is_none() && counted == span.blocks(size)
        });
        right = right.saturating_add(u64::from(is_right));
        seen = seen.saturating_add(1);
        if seen < SPANS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    // A span that is torn, or whose memory is missing, proves nothing: half of them are enough.
    right > 0 && right >= seen / 2
}
