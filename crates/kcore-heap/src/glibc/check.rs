//! What is torn.

use std::ops::ControlFlow;

use kcore_mem::Addr;

use super::{
    Glibc,
    chunk::{Chain, ChainEnd, Chunk, FLAGS, MIN_SIZE, Region},
    index::resync,
    layout::bin_of,
    list_id,
    lists::{ListEnd, bins_of, each_in_bin, each_in_bin_from_behind},
    walk::{self, RegionWalk},
};
use crate::{
    Block, BlockState, HeapHost, NativeHeap, Torn, TornKind, Watch,
    words::{Words, held_parts},
};

/// Chunks between two looks at whoever watches.
const STEP: u64 = 1 << 18;

type Tell<'t> = &'t mut dyn FnMut(Torn) -> ControlFlow<()>;

/// Tells of all that is torn; `None` when whoever watches stopped it.
pub fn check(heap: &Glibc, host: &dyn HeapHost, watch: Watch<'_>, tell: Tell<'_>) -> Option<()> {
    let mut check = Check { heap, host, binned: Vec::new() };
    let told = check.caches(tell).is_break()
        || check.bins(tell).is_break()
        || check.tops(tell).is_break()
        || check.mmapped(tell).is_break();
    if told {
        return Some(());
    }
    check.binned.sort_unstable();
    for region in &heap.regions(host).all {
        match check.region(region, watch, tell) {
            Walked::Whole => {}
            Walked::Stopped => return None,
            Walked::Told => return Some(()),
        }
    }
    Some(())
}

enum Walked {
    Whole,
    Stopped,
    Told,
}

struct Check<'h> {
    heap: &'h Glibc,
    host: &'h dyn HeapHost,
    /// The chunks in bins.
    binned: Vec<u64>,
}

impl Check<'_> {
    /// Something torn at an address.
    fn torn(&self, kind: TornKind, at: u64, why: impl Into<String>) -> Torn {
        let holds = Words::new(self.host.space()).word(at);
        let arena = self.heap.regions(self.host).at(at).map(|region| region.arena);
        Torn {
            kind,
            at: Addr::new(at),
            holds,
            why: why.into(),
            block: None,
            before: None,
            may_be_in_motion: self.is_locked(arena),
        }
    }

    fn is_locked(&self, arena: Option<u32>) -> bool {
        let arena = arena.and_then(|arena| self.heap.ring.arenas.get(arena as usize));
        arena.and_then(|arena| arena.is_locked(&mut Words::new(self.host.space()))) == Some(true)
    }

    fn block(&self, at: u64) -> Option<Block> {
        walk::chunk_at(self.heap, self.host, at)
    }

    /// The block that ends where a chunk begins.
    fn before(&self, chunk: u64) -> Option<Block> {
        let before = self.block(chunk.checked_sub(8)?)?;
        (before.whole.end.get() == chunk).then_some(before)
    }

    /// Thread caches and fast bins.
    fn caches(&self, tell: Tell<'_>) -> ControlFlow<()> {
        let caches = self.heap.caches(self.host);
        for bad in &caches.bad {
            let name = self.heap.list(bad.list).name;
            tell(self.bad_list(&name, bad.end))?;
        }
        for pair in caches.chunks.windows(2) {
            if let [(one, list), (other, second)] = pair
                && one == other
            {
                let (first, second) = (self.heap.list(*list).name, self.heap.list(*second).name);
                let why = format!("the block is free twice: in {first} and in {second}");
                let torn = self.torn(TornKind::DoubleFree, *one, why);
                tell(Torn { block: self.block(*one), ..torn })?;
            }
        }
        ControlFlow::Continue(())
    }

    fn bad_list(&self, name: &str, end: ListEnd) -> Torn {
        // A link lies inside of a free block, behind a header that is whole: who wrote past the end of the block before
        // would have written over that first.
        let of = |kind, at, why: String| {
            let block = self.block(at).filter(|block| block.range().contains(Addr::new(at)));
            Torn { block, ..self.torn(kind, at, why) }
        };
        match end {
            ListEnd::Whole => of(TornKind::Link, 0, format!("{name} is whole")),
            ListEnd::Loop(at, to) => {
                let why = format!(
                    "{name} leads back into itself: this block was freed twice, or written to after it was freed"
                );
                Torn { block: self.block(to), ..self.torn(TornKind::Loop, at, why) }
            }
            ListEnd::Torn(at, to) => {
                of(TornKind::Link, at, format!("{name} leads to {to:x}, where no chunk of it is"))
            }
            ListEnd::Back(from, to, back) => {
                if self.is_free_chunk(to) {
                    let why = format!(
                        "a chunk of {name} leads back to {back:x}, and not to the chunk before it"
                    );
                    of(TornKind::Link, to.wrapping_add(24), why)
                } else {
                    of(
                        TornKind::Link,
                        from,
                        format!("{name} leads to {to:x}, where no free chunk begins"),
                    )
                }
            }
            ListEnd::Missing(at) => {
                of(TornKind::Link, at, format!("{name} leads to memory that is missing"))
            }
        }
    }

    fn is_free_chunk(&self, at: u64) -> bool {
        let block = self.block(at);
        block.is_some_and(|it| it.whole.start.get() == at && it.state == BlockState::Free)
    }

    /// Bins: each leads forth and back, and its chunks have its sizes.
    fn bins(&mut self, tell: Tell<'_>) -> ControlFlow<()> {
        let mut words = Words::new(self.host.space());
        for arena in self.heap.ring.arenas.clone() {
            let system = arena.word(&mut words, self.heap.ring.layout.system_mem).unwrap_or(0);
            for (number, bin) in bins_of(arena.at.get().wrapping_add(self.heap.ring.layout.bins)) {
                let name = self.heap.list(list_id::bin(number)).name;
                let mut misplaced = None;
                let binned = &mut self.binned;
                let most = system / MIN_SIZE;
                let end = each_in_bin(&mut words, bin, most, &mut |at, size| {
                    binned.push(at);
                    if number != 1 && bin_of(size) != number {
                        misplaced.get_or_insert((at, size));
                    }
                });
                if let Some((at, size)) = misplaced {
                    let why =
                        format!("the chunk is in {name}, where none of {size:#x} bytes belongs");
                    let torn = self.torn(TornKind::Header, at.wrapping_add(8), why);
                    tell(Torn { block: self.block(at), before: self.before(at), ..torn })?;
                }
                if end != ListEnd::Whole {
                    if let ListEnd::Back(_, to, _) = end
                        && self.is_free_chunk(to)
                    {
                        self.binned.push(to);
                    }
                    let binned = &mut self.binned;
                    each_in_bin_from_behind(&mut words, bin, most, &mut |at| binned.push(at));
                    tell(self.bad_list(&name, end))?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// `top` of each arena: no larger than what the arena had from the system, and its end on a page.
    fn tops(&self, tell: Tell<'_>) -> ControlFlow<()> {
        let mut words = Words::new(self.host.space());
        for arena in &self.heap.ring.arenas {
            let layout = self.heap.ring.layout;
            let system = arena.word(&mut words, layout.system_mem).unwrap_or(0);
            let Some(top) = arena.top(&mut words, layout).filter(|_| system > 0) else { continue };
            let size_at = top.wrapping_add(8);
            let why = match words.word(size_at) {
                None => "the size of top is missing".to_owned(),
                Some(word) if word & !FLAGS > system => {
                    format!(
                        "the size of top is {word:#x}, more than all that its arena has ({system:#x})"
                    )
                }
                Some(word) if top.wrapping_add(word & !FLAGS) % 4096 != 0 => {
                    format!("top with its size {word:#x} does not end on a page")
                }
                Some(_) => continue,
            };
            tell(Torn { before: self.before(top), ..self.torn(TornKind::Header, size_at, why) })?;
        }
        ControlFlow::Continue(())
    }

    /// Chunks with mappings of their own: no list has them, but they are counted.
    fn mmapped(&self, tell: Tell<'_>) -> ControlFlow<()> {
        let Some(par) = self.heap.par else { return ControlFlow::Continue(()) };
        let found = self.heap.mmapped(self.host).len() as u64;
        if found >= par.mmaps || self.misses_memory() {
            return ControlFlow::Continue(());
        }
        let at = par.at.get().wrapping_add(par.layout.n_mmaps);
        let why = format!(
            "{} chunks have mappings of their own by n_mmaps, and {found} were found: headers of the rest are torn",
            par.mmaps
        );
        let holds = Some(par.mmaps);
        tell(Torn { holds, ..self.torn(TornKind::Count, at, why) })
    }

    /// Whether some memory in which a chunk could lie is not there.
    fn misses_memory(&self) -> bool {
        let held = self.host.regions();
        let mut mappings =
            self.host.mappings().iter().filter(|it| it.writable && !it.is_file && !it.is_brk);
        mappings.any(|mapping| {
            let parts = held_parts(&held, mapping.range);
            let bytes = parts.map(|part| part.len()).fold(0, u64::saturating_add);
            bytes < mapping.range.len()
        })
    }

    /// The chunks of a region: sizes, their copies behind free chunks, marks and neighbours.
    fn region(&self, region: &Region, watch: Watch<'_>, tell: Tell<'_>) -> Walked {
        let mut at = region.start;
        let mut binned =
            self.binned.get(self.binned.partition_point(|chunk| *chunk < at)..).unwrap_or_default();
        let mut words = Words::new(self.host.space());
        let mut count = 0_u64;
        loop {
            let mut chain = Chain::new(Words::new(self.host.space()), at, region);
            let mut last_free = false;
            let mut last = None;
            for chunk in chain.by_ref() {
                count = count.wrapping_add(1);
                if count.is_multiple_of(STEP)
                    && watch(
                        chunk.at.wrapping_sub(region.start),
                        region.end.wrapping_sub(region.start),
                    )
                    .is_break()
                {
                    return Walked::Stopped;
                }
                let is_binned = take(&mut binned, chunk.at);
                if let Some(torn) = self.chunk(&mut words, &chunk, is_binned, last_free)
                    && tell(torn).is_break()
                {
                    return Walked::Told;
                }
                last_free = !chunk.in_use;
                last = Some(chunk);
            }
            let Some((torn, next)) = self.end(region, chain.ended(), last) else {
                return Walked::Whole;
            };
            if tell(torn).is_break() {
                return Walked::Told;
            }
            let Some(next) = next else { return Walked::Whole };
            at = next;
        }
    }

    /// What is torn in a chunk whose size is possible.
    fn chunk(
        &self,
        words: &mut Words<'_>,
        chunk: &Chunk,
        is_binned: bool,
        last_free: bool,
    ) -> Option<Torn> {
        if chunk.in_use && !is_binned {
            return None;
        }
        let behind = chunk.end();
        let (kind, at, why) = if chunk.in_use {
            let why =
                "the chunk is in a bin, and the chunk behind it says that it is in use".to_owned();
            (TornKind::Marks, behind.wrapping_add(8), why)
        } else if !is_binned {
            let why =
                "the chunk behind it says that this one is free, and no bin has it".to_owned();
            (TornKind::Marks, behind.wrapping_add(8), why)
        } else if last_free {
            (
                TornKind::Marks,
                chunk.at.wrapping_add(8),
                "two free chunks are neighbours, and were not joined".to_owned(),
            )
        } else {
            let copy = words.word(behind).filter(|copy| *copy != chunk.size())?;
            let why = format!(
                "the chunk has {:#x} bytes, and the copy of its size behind it says {copy:#x}",
                chunk.size()
            );
            (TornKind::Sizes, behind, why)
        };
        let mut walk =
            RegionWalk::new(self.heap, self.host, self.heap.regions(self.host).at(chunk.at)?, 0);
        let block = walk.block(chunk);
        let torn = self.torn(kind, at, why);
        // Two free neighbours are the one case in which the chunk's own header is in doubt.
        let before = last_free.then(|| self.before(chunk.at)).flatten();
        Some(Torn { block: Some(block), before, ..torn })
    }

    /// What is torn where a chain of chunks ended before its region, and where the next one begins.
    fn end(
        &self,
        region: &Region,
        ended: Option<ChainEnd>,
        last: Option<Chunk>,
    ) -> Option<(Torn, Option<u64>)> {
        let (at, why) = match ended? {
            ChainEnd::Done => return None,
            ChainEnd::Fence(at) if !region.has_top && at.saturating_add(MIN_SIZE) >= region.end => {
                return None;
            }
            ChainEnd::Fence(at) => (
                at,
                "the chunk has the size of a fence, and is not at the end of its region".to_owned(),
            ),
            ChainEnd::Torn(at, word) => (at, size_is_impossible(region, at, word)),
            ChainEnd::Missing(_) => return None,
        };
        let mut torn = self.torn(TornKind::Header, at.wrapping_add(8), why);
        let mut walk = RegionWalk::new(self.heap, self.host, region, 0);
        torn.before = last.map(|chunk| {
            let mut block = walk.block(&chunk);
            // Whether it is in use stood in the word that is torn.
            block.state = self.state_of(&chunk, block.state);
            block
        });
        Some((torn, resync(self.heap, self.host, region, at)))
    }

    /// The state of a chunk whose neighbour is torn: only lists tell.
    fn state_of(&self, chunk: &Chunk, by_mark: BlockState) -> BlockState {
        match by_mark {
            BlockState::Free if self.binned.binary_search(&chunk.at).is_err() => BlockState::Used,
            BlockState::Used if self.binned.binary_search(&chunk.at).is_ok() => BlockState::Free,
            state => state,
        }
    }
}

fn size_is_impossible(region: &Region, at: u64, word: u64) -> String {
    let size = word & !FLAGS;
    if word & super::chunk::MMAPPED != 0 && size <= region.end.wrapping_sub(at) {
        format!("the size {word:#x} says that the chunk has a mapping of its own, which it has not")
    } else if word & 8 != 0 {
        format!("the size {word:#x} is no multiple of 16")
    } else if size < MIN_SIZE {
        format!("the size {word:#x} is less than that of any chunk")
    } else {
        format!("the size {word:#x} reaches beyond the end of the heap")
    }
}

/// Whether a chunk is the next of a sorted list, up to which it is passed.
fn take(list: &mut &[u64], chunk: u64) -> bool {
    while let Some((first, rest)) = list.split_first().filter(|(first, _)| **first <= chunk) {
        *list = rest;
        if *first == chunk {
            return true;
        }
    }
    false
}
