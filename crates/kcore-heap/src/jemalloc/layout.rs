//! Layouts of jemalloc 5.x on machines with 48-bit addresses and pages of 4 KiB.
//!
//! From `extent_structs.h` (5.0 to 5.2), `edata.h` (5.3), `rtree.h`, `cache_bin.h` and `prof_structs.h`.

/// A field of a word of bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bits {
    shift: u32,
    width: u32,
}

impl Bits {
    const fn new(shift: u32, width: u32) -> Self {
        Self { shift, width }
    }

    /// The field's value.
    pub(super) const fn of(self, word: u64) -> u64 {
        word.wrapping_shr(self.shift) & 1_u64.wrapping_shl(self.width).wrapping_sub(1)
    }
}

/// How a cache of a thread keeps its blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CacheForm {
    /// A pointer to the next block to hand out, and the low 16 bits of the ends of its stack.
    Ends,
    /// A count, and a pointer behind the newest block.
    Count,
}

/// Where a sampled block keeps what the profiler knows, from the start of its descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Profile {
    /// Bytes that were asked for, where that is kept.
    pub(super) requested: Option<u64>,
    /// The context that allocated it.
    pub(super) context: u64,
    /// How many sampled blocks of a context are in use, as an offset in the context.
    pub(super) live: u64,
    /// In the context: the stack that it shares with those of other threads.
    pub(super) stack: u64,
    /// In that: the addresses of the stack, then how many they are.
    pub(super) addresses: u64,
}

/// The layout of a few versions.
#[derive(Debug)]
pub(super) struct Layout {
    /// The versions.
    pub(super) versions: &'static str,
    /// How those begin.
    pub(super) prefixes: &'static [&'static str],
    /// The bits of a leaf's word that are the descriptor's address.
    pub(super) pointer: u64,
    pub(super) state: Bits,
    pub(super) class: Bits,
    pub(super) free: Bits,
    pub(super) caches: CacheForm,
    pub(super) profile: Profile,
    /// The end of the name of the variable that holds the tree, and how far into it the root lies.
    pub(super) root: (&'static str, u64),
}

/// Of an arena's index.
pub(super) const ARENA: Bits = Bits::new(0, 12);
/// Of the mark of a slab.
pub(super) const SLAB: Bits = Bits::new(12, 1);
/// Of the size class in a leaf's word.
pub(super) const LEAF_CLASS: Bits = Bits::new(48, 8);
/// Of the mark of a slab in a leaf's word.
pub(super) const LEAF_SLAB: Bits = Bits::new(0, 1);

const PROFILE_3: Profile =
    Profile { requested: Some(72), context: 80, live: 32, stack: 96, addresses: 104 };
/// Its counters are four words, and nothing is kept of what was asked for.
const PROFILE_2: Profile =
    Profile { requested: None, context: 72, live: 24, stack: 56, addresses: 72 };

/// All layouts, the newest first.
pub(super) const LAYOUTS: [Layout; 3] = [
    Layout {
        versions: "5.3",
        prefixes: &["5.3."],
        pointer: 0x0000_ffff_ffff_ff80,
        state: Bits::new(17, 3),
        class: Bits::new(20, 8),
        free: Bits::new(28, 10),
        caches: CacheForm::Ends,
        profile: PROFILE_3,
        root: ("arena_emap_global", 120),
    },
    Layout {
        versions: "5.1 and 5.2",
        prefixes: &["5.1.", "5.2."],
        pointer: 0x0000_ffff_ffff_fffe,
        state: Bits::new(16, 2),
        class: Bits::new(18, 8),
        free: Bits::new(26, 10),
        caches: CacheForm::Count,
        profile: PROFILE_2,
        root: ("extents_rtree", 112),
    },
    Layout {
        versions: "5.0",
        prefixes: &["5.0."],
        pointer: 0x0000_ffff_ffff_fffe,
        state: Bits::new(15, 2),
        class: Bits::new(17, 8),
        free: Bits::new(25, 10),
        caches: CacheForm::Count,
        profile: PROFILE_2,
        root: ("extents_rtree", 112),
    },
];
