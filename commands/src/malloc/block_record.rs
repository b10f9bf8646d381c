//! A block of a native heap as a record.

use std::sync::Arc;

use kcore::{
    Core,
    native_heap::{Block, HeapNumber, OwnedBlock},
};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

const COLUMNS: &[Column] = &[
    Column::right("address", "ADDRESS", 16).spec("x"),
    Column::right("usable", "BYTES", 12),
    Column::left("state", "STATE", 8),
    Column::left("arena", "ARENA", 6),
    Column::left("list_text", "LIST", 0),
];

/// A block with what its heap says of it.
pub struct BlockRecord {
    owned: OwnedBlock,
    arena: Option<Arc<str>>,
}

impl BlockRecord {
    /// Of a block of a heap; `None` where there is no such heap.
    pub fn new(core: &Core, heap: HeapNumber, block: Block) -> Option<Self> {
        let owned = core.heaps().owned(heap, block)?;
        Some(Self::of(core, owned))
    }

    /// Of a block.
    pub fn of(core: &Core, owned: OwnedBlock) -> Self {
        Self { arena: core.heaps().arena_name(&owned), owned }
    }

    /// The list, and the thread whose it is.
    fn list_text(&self) -> Option<String> {
        let list = self.owned.list.as_ref()?;
        let thread = list.thread.map(|tid| format!(" of thread {tid}")).unwrap_or_default();
        Some(format!("{}{thread}", list.name))
    }

    /// The same as one cell, for records that have a block among other facts.
    pub fn cell(&self) -> Cell<'static> {
        let block = &self.owned.block;
        let list = self.owned.list.as_ref();
        Cell::Object(vec![
            ("allocator", Cell::text(self.owned.allocator)),
            ("address", Cell::Addr(block.at)),
            ("usable", Cell::Num(block.usable)),
            ("start", Cell::Addr(block.whole.start)),
            ("size", Cell::Num(block.whole.len())),
            ("requested", Cell::or_null(block.requested, Cell::Num)),
            ("state", Cell::text(block.state.as_str())),
            ("arena", Cell::or_null(self.arena.as_ref(), |arena| Cell::text(arena.to_string()))),
            ("list", Cell::or_null(list, |list| Cell::text(list.name.to_string()))),
            (
                "thread",
                Cell::or_null(list.and_then(|list| list.thread), |tid| Cell::Num(tid.get().into())),
            ),
        ])
    }

    /// What the block is, for a sentence: `a used block of 24 bytes`.
    pub fn words(&self) -> String {
        use kcore::native_heap::BlockState::{Cached, Free, Internal, Used};
        let block = &self.owned.block;
        let bytes = match block.requested {
            Some(requested) => format!("{requested} bytes ({} usable)", block.usable),
            None => format!("{} bytes", block.usable),
        };
        let list = self.list_text().map(|list| format!(" in {list}")).unwrap_or_default();
        let arena = match &self.arena {
            Some(arena) => format!(", arena {arena} of {}", self.owned.allocator),
            None => format!(", of {}", self.owned.allocator),
        };
        match block.state {
            Used => format!("a used block of {bytes}{arena}"),
            Cached => format!("a freed block of {bytes}{list}{arena}"),
            Free => format!("a free block of {bytes}{list}{arena}"),
            Internal => format!("a block of {bytes} of the allocator's own{arena}"),
        }
    }

    /// The name of its arena.
    pub fn arena(&self) -> Option<&str> {
        self.arena.as_deref()
    }

    /// The thread whose cache has it.
    pub fn thread(&self) -> Option<u32> {
        self.owned.list.as_ref()?.thread.map(kcore::Tid::get)
    }

    /// Where the block lies.
    pub const fn block(&self) -> &Block {
        &self.owned.block
    }
}

impl Record for BlockRecord {
    fn kind(&self) -> &'static str {
        "heap_block"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let block = &self.owned.block;
        let list = self.owned.list.as_ref();
        out.text("allocator", self.owned.allocator)
            .addr("address", block.at)
            .num("usable", block.usable)
            .addr("start", block.whole.start)
            .num("size", block.whole.len())
            .num("requested", block.requested)
            .text("state", block.state.as_str())
            .opt_text("arena", self.arena.as_deref())
            .opt_text("list", list.map(|list| list.name.as_ref()))
            .num("thread", list.and_then(|list| list.thread).map(|tid| u64::from(tid.get())))
            .display("list_text", Cell::or_null(self.list_text(), Cell::text));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.owned.block.at))
    }
}
