//! Looking at every word of memory that the program may have written.

use kcore_mem::{Addr, AddrRange, AddressSpace};
use kcore_parallel::prelude::*;

use crate::{Core, Mapping};

/// Bytes that one thread looks at in a row.
const CHUNK: u64 = 1 << 20;
const WORD: u64 = 8;

impl Core {
    /// Memory that was dumped and is no code, or is written all the same, as stacks of programs that ask for such:
    /// where saved contexts and pointers to them may lie.
    pub(super) fn written_memory(&self) -> Vec<AddrRange> {
        let mut held = self.space().regions();
        self.cut_repetitions(&mut held);
        let is_data = |range: &AddrRange| {
            let mapping = self.mapping_at(range.start);
            mapping.is_none_or(Mapping::may_hold_data)
        };
        held.into_iter().map(|region| region.range).filter(is_data).flat_map(chunks).collect()
    }

    /// What `take` makes of each aligned word of `memory` that is not 0, in the order of addresses.
    pub(super) fn each_word<T: Send>(
        &self,
        memory: &[AddrRange],
        take: impl Fn(Addr, u64) -> Option<T> + Sync,
    ) -> Vec<T> {
        let of_chunk = |range: &AddrRange| words_of(self.space(), *range, &take);
        memory.par_iter().map(of_chunk).flatten_iter().collect()
    }
}

fn chunks(range: AddrRange) -> impl Iterator<Item = AddrRange> {
    let start = range.start.get().checked_next_multiple_of(WORD).unwrap_or(u64::MAX);
    let starts = (start..range.end.get()).step_by(CHUNK as usize);
    starts.map(move |start| {
        let start = Addr::new(start);
        AddrRange::new(start, range.end.min(start.saturating_add(CHUNK)))
    })
}

fn words_of<T>(
    space: &dyn AddressSpace,
    range: AddrRange,
    take: &impl Fn(Addr, u64) -> Option<T>,
) -> Vec<T> {
    let mut found = Vec::new();
    let mut left = range;
    // What is known to be zeros is not touched.
    while let Some(data) = space.first_data(left) {
        let mut at = Addr::new(data.start.get() & !(WORD - 1)).max(left.start);
        while at < data.end
            && let Ok(bytes) = space.slice(at)
        {
            let len = usize::try_from(data.end.offset_from(at).unwrap_or(0)).unwrap_or(0);
            let bytes = bytes.get(..len).unwrap_or(bytes);
            for (index, word) in bytes.chunks_exact(8).enumerate() {
                let word = word.try_into().map_or(0, u64::from_le_bytes);
                let place = at.saturating_add((index as u64).saturating_mul(WORD));
                found.extend((word != 0).then(|| take(place, word)).flatten());
            }
            at = at.saturating_add((bytes.len() as u64 & !(WORD - 1)).max(WORD));
        }
        left.start = data.end.max(at);
        if left.start >= left.end {
            break;
        }
    }
    found
}
