//! What an allocator noted of a block: who allocated it, and who freed it.

use kcore_mem::CodeAddr;
use kcore_unwind::Tid;

/// What happened to a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockEventKind {
    /// The program was given it.
    Allocated,
    /// The program gave it back.
    Freed,
}

impl BlockEventKind {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allocated => "allocated",
            Self::Freed => "freed",
        }
    }
}

/// Something that happened to a block, as its allocator noted it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockEvent {
    /// What.
    pub kind: BlockEventKind,
    /// The number that the allocator gave the thread: 0 is the first thread of a process.
    pub number: u32,
    /// The thread, where it is known; it may have ended since.
    pub thread: Option<Tid>,
    /// Where it was: return addresses, innermost first. `None` where the stack cannot be read.
    pub stack: Option<Vec<CodeAddr>>,
}
