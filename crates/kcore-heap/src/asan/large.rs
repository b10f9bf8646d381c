//! Large blocks, each in a mapping of its own.

use kcore_mem::{Addr, AddrRange};

use super::instance::Instance;
use crate::{HeapHost, words::Words};

/// Bytes before a large block, which have its header.
const PAGE: u64 = 4096;
/// Large blocks, at most (`kMaxNumChunks`).
const MAX_LARGE: u64 = 1 << 20;
/// Offsets in the header.
const LENGTH: u64 = 8;
const NUMBER: u64 = 24;

/// A large block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Large {
    /// All that it takes.
    pub whole: AddrRange,
    /// Where its memory begins, behind the page of the header.
    pub start: u64,
}

/// All of them, lowest first, and the words that lead to none.
pub fn read(host: &dyn HeapHost, instance: &Instance) -> (Vec<Large>, Vec<Addr>) {
    let mut words = Words::new(host.space());
    let (mut all, mut torn) = (Vec::new(), Vec::new());
    let (table, count) = instance.large;
    for number in 0..count.min(MAX_LARGE) {
        let slot = table.wrapping_add(number << 3);
        // A table that is not there is torn once.
        let Some(header) = words.word(slot) else {
            torn.push(Addr::new(slot));
            break;
        };
        match Large::load(&mut words, header, number).filter(|large| large.is_mapped(host)) {
            Some(large) => all.push(large),
            None => torn.push(Addr::new(slot)),
        }
    }
    all.sort_unstable_by_key(|large| large.whole);
    let mut end = Addr::new(0);
    all.retain(|large| {
        let is_apart = large.whole.start >= end;
        end = end.max(large.whole.end);
        is_apart
    });
    (all, torn)
}

impl Large {
    fn load(words: &mut Words<'_>, header: u64, number: u64) -> Option<Self> {
        let first = words.word(header)?;
        let length = words.word(header.checked_add(LENGTH)?)?;
        let own = words.word(header.checked_add(NUMBER)?)?;
        let (start, end) = (header.checked_add(PAGE)?, first.checked_add(length)?);
        let is_possible = own == number
            && header.is_multiple_of(PAGE)
            && first.is_multiple_of(PAGE)
            && first <= header
            && start < end;
        let whole = AddrRange::new(Addr::new(first), Addr::new(end));
        is_possible.then_some(Self { whole, start })
    }

    /// Whether all of it lies in a mapping: the kernel joins neighbours.
    fn is_mapped(&self, host: &dyn HeapHost) -> bool {
        let mapping = host.mapping_at(self.whole.start);
        mapping.is_some_and(|mapping| mapping.range.end >= self.whole.end)
    }

    /// Where its memory ends.
    pub const fn end(&self) -> u64 {
        self.whole.end.get()
    }
}
