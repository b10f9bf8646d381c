//! Where glibc keeps what, by version: `malloc/malloc.c` and `malloc/arena.c` of the tags 2.17 to 2.42, 64 bits. The
//! definitions of each tag were compiled, and their offsets read.

/// Bytes from the array of bins in `malloc_state` to its end are laid out alike in all versions but for one member.
pub const BINS: u64 = 127;
/// The link to the next arena, from the bins on.
pub const NEXT: u64 = 2048;
/// `top`, before the bins.
pub const TOP_BEFORE_BINS: u64 = 16;
/// Fast bins of an arena (`NFASTBINS`).
pub const FASTBINS: u64 = 10;
/// `NONCONTIGUOUS_BIT` in the flags of an arena.
pub const NONCONTIGUOUS: u32 = 2;

/// `malloc_state`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArenaLayout {
    /// Versions that have it, for people.
    pub versions: &'static str,
    /// Minor versions that have it: 2.*first* to 2.*last*.
    pub first: u32,
    /// See `first`.
    pub last: u32,
    /// `fastbinsY`.
    pub fastbins: u64,
    /// `bins`.
    pub bins: u64,
    /// `attached_threads`, where there is one.
    pub attached: Option<u64>,
    /// `system_mem`; `max_system_mem` is the next word.
    pub system_mem: u64,
    /// `sizeof`.
    pub size: u64,
}

/// All of them, oldest first.
pub const ARENAS: &[ArenaLayout] = &[
    ArenaLayout {
        versions: "2.17 to 2.22",
        first: 17,
        last: 22,
        fastbins: 8,
        bins: 104,
        attached: None,
        system_mem: 2168,
        size: 2184,
    },
    ArenaLayout {
        versions: "2.23 to 2.26",
        first: 23,
        last: 26,
        fastbins: 8,
        bins: 104,
        attached: Some(2168),
        system_mem: 2176,
        size: 2192,
    },
    ArenaLayout {
        versions: "2.27 to 2.42",
        first: 27,
        last: 42,
        fastbins: 16,
        bins: 112,
        attached: Some(2176),
        system_mem: 2184,
        size: 2200,
    },
];

/// `malloc_par`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParLayout {
    /// Versions that have it, for people.
    pub versions: &'static str,
    /// Minor versions that have it.
    pub first: u32,
    /// See `first`.
    pub last: u32,
    /// `n_mmaps`; `n_mmaps_max`, `max_n_mmaps` and `no_dyn_threshold` follow, 4 bytes each.
    pub n_mmaps: u64,
    /// `mmapped_mem`; `max_mmapped_mem` is the next word.
    pub mmapped_mem: u64,
    /// `sbrk_base`.
    pub sbrk_base: u64,
    /// `tcache_bins`; `tcache_max_bytes`, `tcache_count` and `tcache_unsorted_limit` follow.
    pub tcache: Option<u64>,
}

/// All of them, oldest first.
pub const PARS: &[ParLayout] = &[
    ParLayout {
        versions: "2.17 to 2.23",
        first: 17,
        last: 23,
        n_mmaps: 40,
        mmapped_mem: 56,
        sbrk_base: 80,
        tcache: None,
    },
    ParLayout {
        versions: "2.24 to 2.25",
        first: 24,
        last: 25,
        n_mmaps: 40,
        mmapped_mem: 56,
        sbrk_base: 72,
        tcache: None,
    },
    ParLayout {
        versions: "2.26 to 2.34",
        first: 26,
        last: 34,
        n_mmaps: 40,
        mmapped_mem: 56,
        sbrk_base: 72,
        tcache: Some(80),
    },
    ParLayout {
        versions: "2.35 to 2.42",
        first: 35,
        last: 42,
        n_mmaps: 60,
        mmapped_mem: 80,
        sbrk_base: 96,
        tcache: Some(104),
    },
];

/// `tcache_perthread_struct`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcacheLayout {
    /// Minor versions that have it.
    pub first: u32,
    /// See `first`.
    pub last: u32,
    /// The size of the chunk that holds it.
    pub chunk: u64,
    /// How many lists there are.
    pub bins: u64,
    /// Of them, those whose blocks are all of one size.
    pub small_bins: u64,
    /// Bytes of a counter.
    pub count_size: u64,
    /// Whether the counters say how many places are left, and not how many are taken.
    pub counts_down: bool,
    /// `entries`.
    pub entries: u64,
}

/// All of them, oldest first.
pub const TCACHES: &[TcacheLayout] = &[
    TcacheLayout {
        first: 26,
        last: 29,
        chunk: 0x250,
        bins: 64,
        small_bins: 64,
        count_size: 1,
        counts_down: false,
        entries: 64,
    },
    TcacheLayout {
        first: 30,
        last: 41,
        chunk: 0x290,
        bins: 64,
        small_bins: 64,
        count_size: 2,
        counts_down: false,
        entries: 128,
    },
    TcacheLayout {
        first: 42,
        last: 42,
        chunk: 0x300,
        bins: 76,
        small_bins: 64,
        count_size: 2,
        counts_down: true,
        entries: 152,
    },
];

/// The first minor version that protects the links of its lists (safe-linking).
pub const SAFE_LINKING: u32 = 32;

/// Sizes to which the heaps of arenas are aligned: 64 MiB, and four times a huge page where huge pages are asked for
/// (`arena.c`, `heap_max_size`).
pub const HEAP_SIZES: &[u64] = &[64 << 20, 8 << 20, 128 << 20, 2 << 30, 4 << 30];

/// The number of the bin that chunks of a size belong to (`bin_index`): 2 to 63 are small, 64 to 126 large.
pub const fn bin_of(size: u64) -> u64 {
    match size {
        0..=0x3ff => size >> 4,
        _ if size >> 6 <= 48 => (size >> 6).wrapping_add(48),
        _ if size >> 9 <= 20 => (size >> 9).wrapping_add(91),
        _ if size >> 12 <= 10 => (size >> 12).wrapping_add(110),
        _ if size >> 15 <= 4 => (size >> 15).wrapping_add(119),
        _ if size >> 18 <= 2 => (size >> 18).wrapping_add(124),
        _ => 126,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_those_of_malloc_c() {
        // By gdb from a program's free chunks: smallest of each range.
        let known = [(0x20, 2), (0x3f0, 63), (0x400, 64), (0xc40, 97), (0xe00, 98), (0x2a00, 112)];
        for (size, bin) in known {
            assert_eq!(bin_of(size), bin, "{size:#x}");
        }
        assert_eq!((bin_of(0x100_0000), bin_of(0x8_0000)), (126, 126));
    }
}
