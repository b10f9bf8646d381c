//! Where the fields of the heap's structures lie, in bytes (`runtime/mheap.go`, `runtime/mgcpacer.go`,
//! `runtime/mstats.go`), from the debug information of the same programs as [`super::super::layout`].

/// The layouts of one minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapLayout {
    /// `runtime.mspan`.
    pub span: SpanLayout,
    /// `runtime.mheap`: the slice of all spans. The generation of the sweep lies in the word before it.
    pub all_spans: u64,
    /// `runtime.moduledata`: the mask of pointers in its data; that of its zeroed data lies 16 bytes behind it.
    pub data_mask: u64,
    /// How the collector tells pointers from other words.
    pub masks: Masks,
    /// `runtime.special`: the offset of the object in its span, and its size; the kind.
    pub special: (u64, usize, u64),
    /// `runtime.gcControllerState`.
    pub pace: PaceLayout,
    /// `runtime.mstats`: `last_gc_unix`, and `numgc`; `numforcedgc` follows that.
    pub statistics: (u64, u64),
}

/// Fields of `runtime.mspan`. Those before them lie alike in all versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanLayout {
    /// Bytes of `freeindex` and of `nelems`, which follows it.
    pub count_size: u64,
    /// `allocBits`; `gcmarkBits` follow.
    pub allocated: u64,
    /// `sweepgen`. The span's class lies 10 bytes behind it, the state 11, the size of elements 16, the end of the last
    /// one 24, and the list of what is special about them 40.
    pub sweep: u64,
    /// `largeType`, since 1.22.
    pub large_type: Option<u64>,
}

/// How the collector tells pointers from other words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masks {
    /// Two bits for each word in a table of the arena; that table of arenas lies this far behind the slice of spans.
    ArenaPairs(u64),
    /// A bit for each word in a table of the arena, as before, and one for 64 of them behind that.
    ArenaBits(u64),
    /// At the end of spans of small objects; larger objects have a type.
    Span,
    /// The same, before the marks of the same span.
    SpanWithMarks,
}

/// Fields of `runtime.gcControllerState`. `gcPercent` comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaceLayout {
    /// `memoryLimit`, since 1.19.
    pub limit: Option<u64>,
    /// `gcPercentHeapGoal`.
    pub goal: u64,
    /// `heapLive`.
    pub live: u64,
    /// `heapMarked`.
    pub marked: u64,
}

impl HeapLayout {
    /// The layouts of a minor version that [`super::super::layout::Layout`] knows.
    pub const fn of(minor: u8) -> Self {
        let span = match minor {
            ..=20 => SpanLayout { count_size: 8, allocated: 72, sweep: 88, large_type: None },
            21 => SpanLayout { count_size: 8, allocated: 72, sweep: 96, large_type: None },
            _ => SpanLayout { count_size: 2, allocated: 64, sweep: 88, large_type: Some(152) },
        };
        Self {
            span,
            all_spans: match minor {
                18 => 65_848,
                19 => 65_856,
                20 => 65_824,
                _ => 65_864,
            },
            data_mask: match minor {
                ..=19 => 496,
                20 => 512,
                21..=25 => 536,
                26 => 544,
                _ => 520,
            },
            masks: match minor {
                18 => Masks::ArenaPairs(88),
                19 => Masks::ArenaPairs(80),
                ..=21 => Masks::ArenaBits(80),
                22..=25 => Masks::Span,
                _ => Masks::SpanWithMarks,
            },
            special: if minor >= 24 { (8, 8, 16) } else { (8, 2, 10) },
            pace: match minor {
                18 => PaceLayout { limit: None, goal: 104, live: 120, marked: 160 },
                19 => PaceLayout { limit: Some(8), goal: 104, live: 136, marked: 184 },
                20 => PaceLayout { limit: Some(8), goal: 48, live: 80, marked: 120 },
                _ => PaceLayout { limit: Some(8), goal: 72, live: 104, marked: 152 },
            },
            statistics: match minor {
                18 => (168, 4280),
                ..=24 => (3592, 7704),
                _ => (3568, 7680),
            },
        }
    }
}
