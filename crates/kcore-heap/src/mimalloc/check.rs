//! What is torn: lists of free blocks and counters of pages that contradict each other.

use std::ops::ControlFlow;

use kcore_mem::Addr;

use super::heap::Mimalloc;
use super::lists::FreeBlocks;
use super::page::Page;
use crate::{HeapHost, NativeHeap, Torn, TornKind, Watch};

/// Pages between two looks at whoever watches.
const STEP: usize = 256;

/// Tells of all that is torn; `None` when whoever watches stopped it.
pub(super) fn check(
    heap: &Mimalloc,
    host: &dyn HeapHost,
    watch: Watch<'_>,
    tell: &mut dyn FnMut(Torn) -> ControlFlow<()>,
) -> Option<()> {
    let pages = &heap.known(host).pages;
    for (number, page) in pages.iter().enumerate() {
        if number.is_multiple_of(STEP) && watch(number as u64, pages.len() as u64).is_break() {
            return None;
        }
        let torn = of_page(heap, host, page);
        if torn.is_some_and(|torn| tell(torn).is_break()) {
            break;
        }
    }
    Some(())
}

fn of_page(heap: &Mimalloc, host: &dyn HeapHost, page: &Page) -> Option<Torn> {
    let blocks = FreeBlocks::of(host.space(), page);
    let list = |list| heap.list(list).name;
    let Some(broken) = blocks.broken else {
        let why = format!(
            "the page of blocks of {} bytes at {} counts {} used ones of {}, and {} are in its lists of free ones",
            page.block_size,
            page.start,
            page.used,
            page.capacity,
            blocks.count()
        );
        return (!blocks.agree(page)).then(|| torn(TornKind::Count, page.at, why));
    };
    let why = match broken.is_again {
        true => format!(
            "the {} leads back to a block that is in a list already: it was freed twice",
            list(broken.list)
        ),
        false => format!(
            "the {} of the page at {} leads to {}, which is no block of it: a free block was written to",
            list(broken.list),
            page.start,
            broken.to
        ),
    };
    let kind = if broken.is_again { TornKind::DoubleFree } else { TornKind::Link };
    let block = if broken.is_again { heap.block_at(host, broken.to) } else { None };
    Some(Torn { block, ..torn(kind, page.at, why) })
}

fn torn(kind: TornKind, at: Addr, why: String) -> Torn {
    Torn { kind, at, holds: None, why, block: None, before: None, may_be_in_motion: false }
}
