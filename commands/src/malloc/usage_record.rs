//! What a heap holds, as records.

use kcore::native_heap::{Amount, ArenaUsage, Equality, HeapIdentity, OwnFigure, Usage};
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

const USAGE_VIEW: &str = "\
    {allocator}{version? {version}} in {instance}\
    \nin use:    {used_bytes} bytes{used_blocks? in {used_blocks} blocks}{apart?, {apart_bytes} of them in {apart_blocks} mappings of their own}\
    \ncached:    {cached_bytes} bytes{cached_blocks? in {cached_blocks} blocks}, freed and kept for later\
    \nfree:      {free_bytes} bytes{free_blocks? in {free_blocks} blocks}\
    \ninternal:  {internal_bytes} bytes{internal_blocks? in {internal_blocks} blocks}\
    {metadata?\nmetadata:  {metadata} bytes}\
    \nmapped:    {mapped} bytes\
    \nlayout:    {layout}";

/// The totals of a heap.
pub struct UsageRecord<'u> {
    /// The heap.
    pub identity: &'u HeapIdentity,
    /// What it holds.
    pub usage: &'u Usage,
}

impl Record for UsageRecord<'_> {
    fn kind(&self) -> &'static str {
        "heap"
    }

    fn view(&self) -> View {
        View::Line(USAGE_VIEW)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let (identity, usage) = (self.identity, self.usage);
        out.text("allocator", identity.allocator)
            .opt_text("version", identity.version.as_deref())
            .text("instance", identity.instance.as_ref())
            .text("layout", identity.layout.as_ref());
        let amounts: [(&'static str, &'static str, Amount); 5] = [
            ("used_blocks", "used_bytes", usage.used),
            ("cached_blocks", "cached_bytes", usage.cached),
            ("free_blocks", "free_bytes", usage.free),
            ("internal_blocks", "internal_bytes", usage.internal),
            ("apart_blocks", "apart_bytes", usage.apart),
        ];
        for (blocks, bytes, amount) in amounts {
            out.num(blocks, amount.blocks).num(bytes, amount.bytes);
        }
        let unknown = identity.unknown.iter().map(|text| Cell::text(text.as_ref())).collect();
        let has_metadata = usage.metadata > 0;
        out.num("mapped", usage.mapped)
            .num("metadata", has_metadata.then_some(usage.metadata))
            .num("arenas", usage.arenas.len() as u64)
            .num("caches", usage.caches.len() as u64)
            .put("unknown", Cell::List(unknown))
            .display("apart", Cell::Bool(usage.apart.bytes > 0));
    }
}

const ARENA_COLUMNS: &[Column] = &[
    Column::left("arena", "ARENA", 6),
    Column::right("address", "ADDRESS", 16).spec("x"),
    Column::right("mapped", "MAPPED", 13),
    Column::right("used_bytes", "USED", 13),
    Column::right("cached_bytes", "CACHED", 11),
    Column::right("free_bytes", "FREE", 12),
    Column::left("state_text", "", 6),
    Column::left("threads", "THREADS", 0),
];

/// An arena of a heap.
pub struct ArenaRecord<'u> {
    /// The heap.
    pub identity: &'u HeapIdentity,
    /// The number of the arena.
    pub index: usize,
    /// What it holds.
    pub arena: &'u ArenaUsage,
}

impl Record for ArenaRecord<'_> {
    fn kind(&self) -> &'static str {
        "heap_arena"
    }

    fn view(&self) -> View {
        View::Table(ARENA_COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let arena = self.arena;
        let threads = arena.threads.iter().map(|tid| Cell::Num(tid.get().into())).collect();
        out.text("allocator", self.identity.allocator)
            .text("instance", self.identity.instance.as_ref())
            .num("index", self.index as u64)
            .text("arena", arena.name.as_ref())
            .addr("address", arena.at)
            .num("mapped", arena.mapped)
            .num("used_blocks", arena.used.blocks)
            .num("used_bytes", arena.used.bytes)
            .num("cached_blocks", arena.cached.blocks)
            .num("cached_bytes", arena.cached.bytes)
            .num("free_blocks", arena.free.blocks)
            .num("free_bytes", arena.free.bytes)
            .num("internal_blocks", arena.internal.blocks)
            .num("internal_bytes", arena.internal.bytes)
            .put("locked", Cell::or_null(arena.locked, Cell::Bool))
            .put("threads", Cell::List(threads))
            .display(
                "state_text",
                Cell::text(if arena.locked == Some(true) { "locked" } else { "" }),
            );
    }

    fn dot(&self) -> Option<Dot> {
        self.arena.at.map(Dot::Addr)
    }
}

/// A figure in the allocator's own words.
pub struct OwnRecord<'u> {
    /// The heap.
    pub identity: &'u HeapIdentity,
    /// The figure.
    pub figure: &'u OwnFigure,
}

impl Record for OwnRecord<'_> {
    fn kind(&self) -> &'static str {
        "heap_figure"
    }

    fn view(&self) -> View {
        View::Line("{name:24} {value}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("allocator", self.identity.allocator)
            .text("instance", self.identity.instance.as_ref())
            .text("name", self.figure.name.as_ref())
            .num("value", self.figure.value);
    }
}

/// Two figures that must be equal.
pub struct EqualityRecord<'u> {
    /// The heap.
    pub identity: &'u HeapIdentity,
    /// The figures.
    pub equality: &'u Equality,
}

impl Record for EqualityRecord<'_> {
    fn kind(&self) -> &'static str {
        "heap_equality"
    }

    fn view(&self) -> View {
        View::Line("{one}: {one_value}; {other}: {other_value}{holds^: these differ{at? at {at}}}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let it = self.equality;
        out.text("allocator", self.identity.allocator)
            .text("instance", self.identity.instance.as_ref())
            .text("one", it.one.as_ref())
            .num("one_value", it.one_value)
            .text("other", it.other.as_ref())
            .num("other_value", it.other_value)
            .flag("holds", it.holds())
            .addr("at", it.at);
    }
}
