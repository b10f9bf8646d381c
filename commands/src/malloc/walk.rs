//! Walkers `malloc` and `free`: the blocks of native heaps.

use kcore::native_heap::{BlockFilter, BlockStates};
use kcore_dcmd::{AddrUse, Args, Cx, DcmdError, Dot, Result, Visit, Walker, WalkerSpec};

use super::subject;

/// Steps over the blocks of all native heaps in some states.
pub struct Blocks {
    name: &'static str,
    summary: &'static str,
    states: BlockStates,
}

/// The blocks that the program has.
pub const MALLOC: Blocks = Blocks {
    name: "malloc",
    summary: "walk the blocks of malloc and other allocators that are in use",
    states: BlockStates::USED,
};

/// The blocks that are free.
pub const FREE: Blocks = Blocks {
    name: "free",
    summary: "walk the blocks of malloc and other allocators that are free, in caches too",
    states: BlockStates::FREE,
};

impl Walker for Blocks {
    fn spec(&self) -> WalkerSpec {
        WalkerSpec { name: self.name, summary: self.summary, addr: AddrUse::Optional }
    }

    /// From the address of an arena, only the blocks of that arena.
    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let core = cx.core().clone();
        let mut any = from.is_none();
        for heap in subject::wanted(cx, &Args::default())? {
            let mut filter = BlockFilter::of_states(self.states);
            if let Some(from) = from {
                filter.arena = core.heaps().arena_at(heap, from.addr());
                if filter.arena.is_none() {
                    continue;
                }
                any = true;
            }
            subject::each_block(cx, &core, heap, filter, &mut |cx, block| {
                visit(cx, Dot::Addr(block.at))
            })?;
        }
        match from.filter(|_| !any) {
            Some(from) => {
                Err(DcmdError::failed(format!("{:x} is no arena of a heap", from.addr())))
            }
            None => Ok(()),
        }
    }
}
