//! The heads of all values, in the blocks that an interpreter takes them from: `more_sv` and `visit` of `sv.c`.

use kcore_mem::{Addr, AddrRange};
use rustc_hash::{FxHashMap, FxHashSet};

use super::memory::{CODE, FORMAT, Memory, pointer};

/// Bytes of a head, and where it counts its references.
pub const HEAD: u64 = 24;
const COUNT: u64 = 8;
/// The last type of values there is: `SVt_PVOBJ`.
const LAST_TYPE: u8 = 16;
/// Heads of one block, at most: a block has 4080 bytes.
const MAX_HEADS: u64 = 1 << 12;
/// Blocks, at most.
const MAX_BLOCKS: usize = 1 << 20;

/// The blocks of heads, and what is known of what they hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arenas {
    /// The heads of each block, lowest first; no two overlap.
    blocks: Vec<AddrRange>,
    /// Pads, and the code that each belongs to.
    pub pads: FxHashMap<Addr, Addr>,
    /// Whether a list of blocks ends where it should not.
    pub is_cut: bool,
}

impl Arenas {
    /// Those whose lists begin at these words.
    pub fn of(memory: &Memory<'_>, roots: impl IntoIterator<Item = Addr>) -> Self {
        let mut arenas = Self::default();
        for root in roots {
            arenas.is_cut |= arenas.follow(memory, root).is_none();
        }
        arenas.blocks.sort_unstable();
        let mut end = Addr::new(0);
        arenas.blocks.retain(|block| {
            let is_apart = block.start >= end;
            end = end.max(block.end);
            is_apart
        });
        arenas.pads = arenas.pads_of(memory);
        arenas
    }

    /// Adds the blocks of one interpreter.
    fn follow(&mut self, memory: &Memory<'_>, root: Addr) -> Option<()> {
        let mut next = memory.word(root, 0)?;
        let mut known = FxHashSet::default();
        while next != 0 {
            let at = pointer(next).filter(|at| known.insert(*at) && known.len() <= MAX_BLOCKS)?;
            // The first head of a block has the number of all in place of its references.
            let count = memory.uint(at, COUNT, 4).filter(|count| *count <= MAX_HEADS)?;
            let end = at.checked_add(count.checked_mul(HEAD)?)?;
            self.blocks.push(AddrRange::new(at.checked_add(HEAD)?.min(end), end));
            next = memory.word(at, 0)?;
        }
        Some(())
    }

    fn pads_of(&self, memory: &Memory<'_>) -> FxHashMap<Addr, Addr> {
        let mut pads = FxHashMap::default();
        for at in self.heads() {
            if matches!(memory.kind(at), Some(CODE | FORMAT)) {
                pads.extend(memory.pads_of(at).into_iter().map(|pad| (pad, at)));
            }
        }
        pads
    }

    /// All heads, of values and free ones.
    pub fn heads(&self) -> impl Iterator<Item = Addr> {
        self.blocks.iter().flat_map(|block| {
            let count = block.len().checked_div(HEAD).unwrap_or_default();
            (0..count).map(|index| block.start.saturating_add(index.saturating_mul(HEAD)))
        })
    }

    /// How many heads there are.
    pub fn len(&self) -> u64 {
        let heads = |block: &AddrRange| block.len().checked_div(HEAD).unwrap_or_default();
        self.blocks.iter().map(heads).fold(0, u64::saturating_add)
    }

    /// The head that holds an address.
    pub fn head_at(&self, at: Addr) -> Option<Addr> {
        let after = self.blocks.partition_point(|block| block.start <= at);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        let offset = at.offset_from(block.start).filter(|_| block.contains(at))?;
        block.start.checked_add(offset.checked_sub(offset.checked_rem(HEAD)?)?)
    }
}

/// The type of the value that has a head; `None` of a free one.
pub fn kind_of(memory: &Memory<'_>, head: Addr) -> Option<u8> {
    let references = memory.uint(head, COUNT, 4)?;
    memory.kind(head).filter(|kind| *kind <= LAST_TYPE && references > 0)
}
