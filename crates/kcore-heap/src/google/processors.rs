//! Caches of processors (`TcmallocSlab`): one large mapping with a part for each, which has a header for each size class,
//! and behind the headers the addresses of blocks.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddressSpace};

use super::cache::{Caches, Holder};
use crate::module_words::{each_word, is_anonymous, word};
use crate::{HeapHost, HeapModule};

/// The lower part of the word that leads to all of them is the size of a part, as a power of two (`SlabsAndShift`).
const SHIFT: u64 = 0xff;
const SHIFTS: std::ops::RangeInclusive<u64> = 12..=19;
const PAGE: u64 = 4096;
/// Behind that word: which processors are stopped, and where each class begins, in words of a part.
const BEGINS: u64 = 16;
const HEADER: u64 = 4;
/// The bit of the word before the blocks of a class (`kBeginMark`).
const MARK: u64 = 1;
/// Processors that are looked at.
const MAX_PROCESSORS: u32 = 4096;

/// Where the caches lie.
struct Slabs {
    base: Addr,
    shift: u32,
    /// The first word of each class in a part.
    begins: Vec<u64>,
}

/// Adds the caches of processors; whether there are any.
pub(super) fn add(
    host: &dyn HeapHost,
    module: &dyn HeapModule,
    classes: usize,
    caches: &mut Caches,
) -> bool {
    let Some(slabs) = find(host, module, classes) else { return false };
    let Some(mapping) = host.mapping_at(slabs.base) else { return false };
    for processor in 0..MAX_PROCESSORS {
        let offset = u64::from(processor).wrapping_shl(slabs.shift);
        let part = slabs.base.saturating_add(offset);
        if part.saturating_add(1_u64.wrapping_shl(slabs.shift)) > mapping.range.end {
            break;
        }
        match state(host.space(), &slabs, part) {
            State::Unused => {}
            State::Filled => take(host.space(), &slabs, part, processor, caches),
            State::Other => break,
        }
    }
    true
}

fn find(host: &dyn HeapHost, module: &dyn HeapModule, classes: usize) -> Option<Slabs> {
    let mut found = None;
    for range in module.data() {
        let _ = each_word(host.space(), range, &mut |at, value| {
            let (base, shift) = (value & !SHIFT, value & SHIFT);
            if SHIFTS.contains(&shift)
                && base.is_multiple_of(PAGE)
                && is_anonymous(host, Addr::new(base))
            {
                found = slabs(host, at, Addr::new(base), shift as u32, classes);
            }
            if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if found.is_some() {
            break;
        }
    }
    found
}

fn slabs(host: &dyn HeapHost, at: Addr, base: Addr, shift: u32, classes: usize) -> Option<Slabs> {
    let space = host.space();
    let [stopped, table] =
        [8, BEGINS].map(|offset| Addr::new(word(space, at.saturating_add(offset))));
    if !is_anonymous(host, stopped) || !is_anonymous(host, table) {
        return None;
    }
    let begin = |class: u64| space.read_uint(table.saturating_add(class << 1), 2).ok();
    let begins: Vec<u64> = (0..classes as u64).map_while(begin).collect();
    let slabs = Slabs { base, shift, begins };
    // The first class begins behind the headers of all, and each next one not before it.
    let headers = (classes as u64).saturating_mul(HEADER).div_ceil(8);
    let ascends = slabs.begins.get(1..)?.is_sorted();
    let is_first = slabs
        .begins
        .get(1)
        .is_some_and(|first| (headers..=headers.saturating_add(64)).contains(first));
    let parts = (0..64_u64).map(|part| base.saturating_add(part.wrapping_shl(shift)));
    let is_some_filled =
        || parts.map(|part| state(space, &slabs, part)).any(|it| it == State::Filled);
    (slabs.begins.len() == classes && ascends && is_first && is_some_filled()).then_some(slabs)
}

/// What a part is.
#[derive(PartialEq, Eq)]
enum State {
    /// The processor was never used.
    Unused,
    Filled,
    /// It is none.
    Other,
}

/// Of a class in a part: the word behind its last block, and the one behind its room.
fn header(space: &dyn AddressSpace, part: Addr, class: u64) -> Option<(u64, u64)> {
    let header = space.read_uint(part.saturating_add(class.wrapping_mul(HEADER)), 4).ok()?;
    Some((header & 0xffff, header >> 16))
}

fn state(space: &dyn AddressSpace, slabs: &Slabs, part: Addr) -> State {
    let classes = slabs.begins.len() as u64;
    let headers = || (1..classes).map(|class| header(space, part, class));
    if headers().all(|header| header == Some((0, 0))) {
        return State::Unused;
    }
    let words = 1_u64.wrapping_shl(slabs.shift) / 8;
    let fits = |(header, begin): (Option<(u64, u64)>, &u64)| {
        header.is_some_and(|(current, end)| *begin <= current && current <= end && end <= words)
    };
    let begins = slabs.begins.get(1..).unwrap_or_default();
    match headers().zip(begins).all(fits) && is_marked(space, slabs, part) {
        true => State::Filled,
        false => State::Other,
    }
}

/// Whether the word before the blocks of the first class has the mark, and leads to itself.
fn is_marked(space: &dyn AddressSpace, slabs: &Slabs, part: Addr) -> bool {
    let first = slabs.begins.get(1).and_then(|begin| begin.checked_sub(1));
    first.is_some_and(|before| {
        let at = part.saturating_add(before.wrapping_mul(8));
        word(space, at) == at.get() | MARK
    })
}

fn take(space: &dyn AddressSpace, slabs: &Slabs, part: Addr, processor: u32, caches: &mut Caches) {
    let cache = caches.add(part, Holder::Processor(processor), None);
    for (class, begin) in (0_u16..).zip(&slabs.begins).skip(1) {
        let current = header(space, part, u64::from(class)).map_or(0, |(current, _)| current);
        for slot in *begin..current {
            let block = word(space, part.saturating_add(slot.wrapping_mul(8)));
            if !caches.push(Addr::new(block), cache, class) {
                return;
            }
        }
    }
}
