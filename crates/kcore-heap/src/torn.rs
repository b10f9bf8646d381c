//! What is torn in a heap.

use kcore_mem::Addr;

use crate::Block;

/// In which way something is torn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TornKind {
    /// The header of a block, or of a page, is impossible: something wrote over it.
    Header,
    /// Two headers contradict each other: a size, and the copy of it behind the block.
    Sizes,
    /// A list of free blocks leads to something that is no such block.
    Link,
    /// A list of free blocks leads back into itself.
    Loop,
    /// A block is in two lists, or twice in one: it was freed twice.
    DoubleFree,
    /// A free block is in no list, or one in a list is not marked free.
    Marks,
    /// A counter contradicts what it counts.
    Count,
    /// Something in an arena, a bin or another structure of the allocator's own is impossible.
    Structure,
    /// A free block was written to after it was freed.
    UseAfterFree,
}

impl TornKind {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Sizes => "sizes",
            Self::Link => "link",
            Self::Loop => "loop",
            Self::DoubleFree => "double_free",
            Self::Marks => "marks",
            Self::Count => "count",
            Self::Structure => "structure",
            Self::UseAfterFree => "use_after_free",
        }
    }
}

/// Something that is torn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Torn {
    /// In which way.
    pub kind: TornKind,
    /// The word that is wrong.
    pub at: Addr,
    /// What it holds, where it is a word.
    pub holds: Option<u64>,
    /// What is wrong, in one sentence for people, without the address: `the size of the chunk is not a multiple of 16`.
    pub why: String,
    /// The block that is torn, as far as it is known.
    pub block: Option<Block>,
    /// The block that lies before it and may have been written past its end.
    pub before: Option<Block>,
    /// Whether a thread was inside the allocator and held the lock, so that this may be half done and not torn.
    pub may_be_in_motion: bool,
}
