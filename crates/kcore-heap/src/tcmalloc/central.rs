//! Transfer caches: runs of blocks that a central list keeps for the next thread that wants as many.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddressSpace};

use super::cache::{Caches, TRANSFER};
use crate::module_words::{each_word, word};
use crate::{HeapHost, HeapModule};

/// Bytes of a `CentralFreeListPadded` with 64 entries of a transfer cache.
const STRIDE: u64 = 1216;
const CLASS: u64 = 8;
const SLOTS: u64 = 128;
const USED: u64 = 1152;
const MAX_SLOTS: u64 = 64;
/// Blocks of a slot, at most.
const MAX_RUN: u64 = 1 << 13;

/// Adds the blocks of transfer caches to those of threads; whether the central lists were found.
pub(super) fn add(host: &dyn HeapHost, module: &dyn HeapModule, caches: &mut Caches) -> bool {
    let Some(first) = find(host, module, caches.sizes.len() as u64) else { return false };
    let space = host.space();
    for class in 1..caches.sizes.len() as u64 {
        let list = first.saturating_add(class.wrapping_mul(STRIDE));
        let used = space.read_uint(list.saturating_add(USED), 4).unwrap_or(0);
        for slot in 0..used.min(MAX_SLOTS) {
            let slot = list.saturating_add(SLOTS).saturating_add(slot.wrapping_mul(16));
            let (head, tail) = (word(space, slot), word(space, slot.saturating_add(8)));
            let length = run_length(space, Addr::new(head), Addr::new(tail));
            caches.chain(
                space,
                Addr::new(head),
                length,
                TRANSFER,
                u8::try_from(class).unwrap_or(u8::MAX),
            );
        }
    }
    caches.blocks.sort_unstable();
    true
}

/// The array of central lists: each says its own number.
fn find(host: &dyn HeapHost, module: &dyn HeapModule, classes: u64) -> Option<Addr> {
    let space = host.space();
    let mut found = None;
    for range in module.data() {
        let _ = each_word(space, range, &mut |at, value| {
            if value == 1 {
                let first = Addr::new(at.get().saturating_sub(CLASS.wrapping_add(STRIDE)));
                let says = |class: u64| {
                    word(
                        space,
                        first.saturating_add(class.wrapping_mul(STRIDE)).saturating_add(CLASS),
                    )
                };
                found = (1..classes).all(|class| says(class) == class).then_some(first);
            }
            if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
    found
}

/// How many blocks lead from the first to the last one.
fn run_length(space: &dyn AddressSpace, head: Addr, tail: Addr) -> u64 {
    let mut next = head;
    for count in 1..MAX_RUN {
        if next == tail {
            return count;
        }
        match space.read_addr(next) {
            Ok(link) if link.get() != 0 => next = link,
            _ => return count,
        }
    }
    0
}
