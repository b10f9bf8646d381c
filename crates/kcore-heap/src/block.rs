//! A block: what an allocator hands out.

use std::borrow::Cow;

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Tid;

/// What became of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockState {
    /// The program has it.
    Used,
    /// The program gave it back, and a cache of a thread, a processor or a transfer keeps it. Many allocators count it as
    /// allocated. It still holds its old contents.
    Cached,
    /// It is in a list or a bitmap of free blocks, or was never handed out.
    Free,
    /// The allocator has it for itself, in the same heap: a thread's cache, an arena.
    Internal,
}

impl BlockState {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Cached => "cached",
            Self::Free => "free",
            Self::Internal => "internal",
        }
    }
}

/// A set of states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockStates(u8);

impl BlockStates {
    /// All states.
    pub const ALL: Self = Self(0b1111);
    /// Blocks that the program has.
    pub const USED: Self = Self::of(BlockState::Used);
    /// Blocks that the program gave back.
    pub const FREE: Self = Self::of(BlockState::Free).and(BlockState::Cached);

    /// One state.
    pub const fn of(state: BlockState) -> Self {
        Self(1 << state as u8)
    }

    /// These, and one more.
    #[must_use]
    pub const fn and(self, state: BlockState) -> Self {
        Self(self.0 | Self::of(state).0)
    }

    /// Whether a state is among them.
    pub const fn has(self, state: BlockState) -> bool {
        self.0 & Self::of(state).0 != 0
    }
}

/// A list of an allocator that holds blocks, by a number that only its heap reads: see
/// [`NativeHeap::list`](crate::NativeHeap::list).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ListId(pub u32);

/// What is known of a list that holds blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockList {
    /// Its name in the allocator's own words: `tcache bin 3`, `unsorted bin`.
    pub name: Cow<'static, str>,
    /// The thread whose cache it is, where it is a thread's and the thread is known.
    pub thread: Option<Tid>,
}

/// A block of a heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// The lowest address that the program may use. What the program was given may lie further inside, where it asked
    /// for an alignment.
    pub at: Addr,
    /// Bytes from there that the program may use.
    pub usable: u64,
    /// All that it takes: header and rounding as well.
    pub whole: AddrRange,
    /// Bytes that the program asked for, where the allocator keeps that.
    pub requested: Option<u64>,
    /// What became of it.
    pub state: BlockState,
    /// The arena it belongs to: an index of [`Usage::arenas`](crate::Usage::arenas); `None` of what no arena has.
    pub arena: Option<u32>,
    /// The list that holds it, of a block that is free or cached.
    pub list: Option<ListId>,
}

impl Block {
    /// The addresses that the program may use.
    pub const fn range(&self) -> AddrRange {
        AddrRange::with_len(self.at, self.usable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_states_hold_what_was_put_in() {
        assert!(
            BlockStates::FREE.has(BlockState::Cached) && BlockStates::FREE.has(BlockState::Free)
        );
        assert!(
            !BlockStates::FREE.has(BlockState::Used)
                && !BlockStates::USED.has(BlockState::Internal)
        );
        assert!(BlockStates::ALL.has(BlockState::Internal));
    }
}
