//! All blocks, lowest address first, and the one that holds an address.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange};

use super::{
    Glibc,
    chunk::{Chain, ChainEnd, Chunk, FLAGS, HEADER, MIN_SIZE, Region},
    list_id,
    lists::{ListEnd, bins_of, each_in_bin, each_in_bin_from_behind},
    mmapped::Mmapped,
    regions::Regions,
};
use crate::{Block, BlockSink, BlockState, HeapHost, ListId, words::Words};

/// What a walk passes: a region, or a chunk with a mapping of its own.
enum Piece {
    Region(Region, u64),
    Mmapped(Mmapped),
}

impl Piece {
    const fn start(&self) -> u64 {
        match self {
            Self::Region(region, _) => region.start,
            Self::Mmapped(chunk) => chunk.start,
        }
    }

    const fn end(&self) -> u64 {
        match self {
            Self::Region(_, end) => *end,
            Self::Mmapped(chunk) => chunk.end,
        }
    }
}

/// The chunks of the bins of all arenas, and the bin that has them, lowest first. Of a bin that is torn, what its two ends
/// lead to.
pub fn binned(heap: &Glibc, host: &dyn HeapHost) -> Vec<(u64, ListId)> {
    let mut words = Words::new(host.space());
    let mut chunks = Vec::new();
    for arena in &heap.ring.arenas {
        let system = arena.word(&mut words, heap.ring.layout.system_mem).unwrap_or(0);
        let most = system / MIN_SIZE;
        for (number, bin) in bins_of(arena.at.get().wrapping_add(heap.ring.layout.bins)) {
            let list = list_id::bin(number);
            let end = each_in_bin(&mut words, bin, most, &mut |at, _| chunks.push((at, list)));
            if let ListEnd::Back(_, torn, _) = end {
                chunks.push((torn, list));
            }
            if end != ListEnd::Whole {
                each_in_bin_from_behind(&mut words, bin, most, &mut |at| chunks.push((at, list)));
            }
        }
    }
    chunks.sort_unstable();
    chunks.dedup();
    chunks
}

/// Tells the sink of all blocks.
pub fn walk(heap: &Glibc, host: &dyn HeapHost, sink: &mut BlockSink<'_>) -> ControlFlow<()> {
    let within = sink.filter().within;
    let mut pieces = pieces(heap, host);
    pieces.retain(|piece| piece.start() < within.end.get() && within.start.get() < piece.end());
    sink.expect(
        pieces
            .iter()
            .map(|piece| piece.end().wrapping_sub(piece.start()))
            .fold(0, u64::saturating_add),
    );
    heap.regions(host).notes.iter().for_each(|note| sink.note(note.clone()));
    for piece in &pieces {
        match piece {
            Piece::Region(region, end) => {
                let from = match within.start.get() > region.start {
                    true => heap.index(host).chunk_before(region, within.start.get()),
                    false => region.start,
                };
                RegionWalk::new(heap, host, region, *end).blocks(from, sink)?;
            }
            Piece::Mmapped(chunk) => sink.push(&mmapped_block(chunk))?,
        }
    }
    ControlFlow::Continue(())
}

fn pieces(heap: &Glibc, host: &dyn HeapHost) -> Vec<Piece> {
    let regions = heap.regions(host);
    let of_regions = regions.all.iter().zip(regions.taken());
    let of_regions = of_regions.map(|(region, taken)| Piece::Region(*region, taken.end.get()));
    let mut pieces: Vec<Piece> = of_regions.collect();
    pieces.extend(heap.mmapped(host).iter().map(|chunk| Piece::Mmapped(*chunk)));
    pieces.sort_unstable_by_key(Piece::start);
    pieces
}

fn mmapped_block(chunk: &Mmapped) -> Block {
    let at = chunk.at.wrapping_add(HEADER);
    Block {
        at: Addr::new(at),
        usable: chunk.end.saturating_sub(at),
        whole: AddrRange::new(Addr::new(chunk.start), Addr::new(chunk.end)),
        requested: None,
        state: BlockState::Used,
        arena: None,
        list: None,
    }
}

/// The block whose bytes an address is one of. The first word of a chunk is the last one of the block before: of one in
/// use it is the program's, and of a free one it is the copy of its size.
pub fn block_at(heap: &Glibc, host: &dyn HeapHost, at: u64) -> Option<Block> {
    let before = at.checked_sub(BORROWED).and_then(|at| chunk_at(heap, host, at));
    before.filter(|block| block.range().contains(Addr::new(at))).or_else(|| {
        // The size of the chunk, or what has no chunk before it.
        chunk_at(heap, host, at)
    })
}

/// Bytes of the chunk behind it that a block has.
pub const BORROWED: u64 = 8;

/// The block of the chunk that an address is in.
pub fn chunk_at(heap: &Glibc, host: &dyn HeapHost, at: u64) -> Option<Block> {
    let mmapped = heap.mmapped(host);
    let index = mmapped.partition_point(|chunk| chunk.end <= at);
    if let Some(chunk) = mmapped.get(index).filter(|chunk| chunk.start <= at) {
        return Some(mmapped_block(chunk));
    }
    let regions = heap.regions(host);
    let region = regions.at(at)?;
    let mut walk = RegionWalk::new(heap, host, region, end_of(regions, region));
    if at >= region.end {
        return walk.top();
    }
    walk.chunk_at(heap.index(host).chunk_before(region, at), at)
}

fn end_of(regions: &Regions, region: &Region) -> u64 {
    let index = regions.all.partition_point(|it| it.start < region.start);
    regions.taken().get(index).map_or(region.end, |taken| taken.end.get())
}

/// A walk over the chunks of a region.
pub struct RegionWalk<'h> {
    heap: &'h Glibc,
    host: &'h dyn HeapHost,
    region: Region,
    /// Behind `top`, or behind the last chunk.
    end: u64,
    /// Chunks of caches from here on.
    cached: &'h [(u64, ListId)],
    binned: &'h [(u64, ListId)],
}

impl<'h> RegionWalk<'h> {
    /// Over a region.
    pub fn new(heap: &'h Glibc, host: &'h dyn HeapHost, region: &Region, end: u64) -> Self {
        let cached = &heap.caches(host).chunks;
        Self { heap, host, region: *region, end, cached, binned: heap.binned(host) }
    }

    /// Tells the sink of all blocks from a chunk on.
    fn blocks(&mut self, from: u64, sink: &mut BlockSink<'_>) -> ControlFlow<()> {
        let mut at = from;
        self.seek(at);
        loop {
            let mut chain = Chain::new(Words::new(self.host.space()), at, &self.region);
            for chunk in chain.by_ref() {
                let block = self.block(&chunk);
                sink.push(&block)?;
                if chunk.end() > sink.filter().within.end.get() {
                    return ControlFlow::Continue(());
                }
            }
            let Some(next) = self.resume(chain.ended(), sink) else { break };
            at = next;
            self.seek(at);
        }
        match self.top() {
            Some(top) => sink.push(&top),
            None => ControlFlow::Continue(()),
        }
    }

    /// Where the walk goes on behind a torn chunk, which is noted; `None` at the end of the region.
    fn resume(&self, ended: Option<ChainEnd>, sink: &mut BlockSink<'_>) -> Option<u64> {
        let (torn, why) = match ended? {
            ChainEnd::Done => return None,
            ChainEnd::Fence(at)
                if !self.region.has_top && at.saturating_add(MIN_SIZE) >= self.region.end =>
            {
                return None;
            }
            ChainEnd::Fence(at) => (at, "a fence where none should be".to_owned()),
            ChainEnd::Torn(at, word) => (at, format!("the size {word:#x} is impossible")),
            ChainEnd::Missing(at) => (at, "the memory is missing".to_owned()),
        };
        let next = super::index::resync(self.heap, self.host, &self.region, torn);
        let until = next.unwrap_or(self.region.end);
        sink.skip(AddrRange::new(Addr::new(torn), Addr::new(until.max(torn))));
        sink.note(format!("chunk {torn:x}: {why}; what lies up to {until:x} was not walked"));
        next
    }

    /// The block that holds an address, by the chunks from one on.
    fn chunk_at(&mut self, from: u64, at: u64) -> Option<Block> {
        self.seek(from);
        let chain = Chain::new(Words::new(self.host.space()), from, &self.region);
        let mut chunks = chain.skip_while(|chunk| chunk.end() <= at);
        let chunk = chunks.next().filter(|chunk| chunk.at <= at)?;
        self.seek(chunk.at);
        Some(self.block(&chunk))
    }

    /// What is behind the last chunk.
    fn top(&self) -> Option<Block> {
        let start = self.region.end;
        let at = start.wrapping_add(HEADER);
        (self.region.has_top && start < self.end).then(|| Block {
            at: Addr::new(at),
            usable: self.end.saturating_sub(at),
            whole: AddrRange::new(Addr::new(start), Addr::new(self.end)),
            requested: None,
            state: BlockState::Free,
            arena: Some(self.region.arena),
            list: Some(list_id::TOP),
        })
    }

    /// Makes the lists ready for chunks from an address on.
    fn seek(&mut self, at: u64) {
        let cached = &self.heap.caches(self.host).chunks;
        self.cached =
            cached.get(cached.partition_point(|(chunk, _)| *chunk < at)..).unwrap_or_default();
        let binned = self.heap.binned(self.host);
        self.binned =
            binned.get(binned.partition_point(|(chunk, _)| *chunk < at)..).unwrap_or_default();
    }

    /// A chunk as a block. Chunks must come lowest first.
    #[inline]
    pub fn block(&mut self, chunk: &Chunk) -> Block {
        let (state, list) =
            if chunk.in_use { self.in_use(chunk) } else { (BlockState::Free, self.bin(chunk)) };
        Block {
            at: Addr::new(chunk.at.wrapping_add(HEADER)),
            usable: chunk.size().wrapping_sub(8),
            whole: AddrRange::new(Addr::new(chunk.at), Addr::new(chunk.end())),
            requested: None,
            state,
            arena: Some(self.region.arena),
            list,
        }
    }

    #[inline]
    fn in_use(&mut self, chunk: &Chunk) -> (BlockState, Option<ListId>) {
        while let Some(((at, list), rest)) = self.cached.split_first() {
            if *at > chunk.at {
                break;
            }
            self.cached = rest;
            match *list {
                _ if *at != chunk.at => {}
                list_id::STRUCTURE => return (BlockState::Internal, None),
                list => return (BlockState::Cached, Some(list)),
            }
        }
        (if self.is_rest(chunk) { BlockState::Internal } else { BlockState::Used }, None)
    }

    /// Whether a chunk is what was left of `top` when an arena went on in another heap, too small to be handed out.
    fn is_rest(&self, chunk: &Chunk) -> bool {
        let is_last = !self.region.has_top && chunk.end().saturating_add(HEADER) >= self.region.end;
        is_last && chunk.word & !FLAGS == MIN_SIZE && self.region.arena != 0
    }

    /// The bin that has a free chunk; `None` of one that no bin leads to.
    fn bin(&mut self, chunk: &Chunk) -> Option<ListId> {
        while let Some(((at, list), rest)) =
            self.binned.split_first().filter(|((at, _), _)| *at <= chunk.at)
        {
            self.binned = rest;
            if *at == chunk.at {
                return Some(*list);
            }
        }
        None
    }
}
