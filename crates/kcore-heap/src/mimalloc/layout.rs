//! Layouts of mimalloc, as compiled from `mimalloc/types.h` of the releases.

/// Where the first block of a page lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    /// So many bytes behind the page's first slice, of blocks of 8 to 1024 bytes; at its start otherwise.
    Behind(u64),
    /// Behind three blocks of up to 64 bytes, or one of up to 512 bytes.
    Blocks,
    /// Where the descriptor says.
    Stored(u64),
    /// So many words behind the descriptor, as that says.
    Words(u64),
}

/// The descriptor of a page: offsets in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageLayout {
    pub(super) bytes: u64,
    pub(super) capacity: u64,
    pub(super) reserved: u64,
    pub(super) free: u64,
    pub(super) local_free: u64,
    pub(super) thread_free: u64,
    /// Offset and size.
    pub(super) used: (u64, usize),
    /// Offset and size.
    pub(super) block_size: (u64, usize),
    pub(super) heap: u64,
    /// Two random keys, in builds that encode the links of lists.
    pub(super) keys: Option<u64>,
    pub(super) start: Start,
    /// Whether blocks end with a word that tells how much was asked for.
    pub(super) is_padded: bool,
}

/// A segment of 2.x: offsets in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentLayout {
    pub(super) cookie: u64,
    pub(super) slices: u64,
    pub(super) info_slices: u64,
    pub(super) kind: u64,
    pub(super) thread: u64,
    pub(super) entries: u64,
    /// The descriptors of its slices.
    pub(super) pages: u64,
    /// In a heap: its list of blocks that other threads freed, and the keys of that.
    pub(super) delayed: (u64, u64),
}

/// The layout of a few releases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) versions: &'static str,
    /// `None` since 3.0.
    pub(super) segment: Option<SegmentLayout>,
    pub(super) page: PageLayout,
}

const fn segment(base: [u64; 7], delayed: (u64, u64)) -> Option<SegmentLayout> {
    let [cookie, slices, info_slices, kind, thread, entries, pages] = base;
    Some(SegmentLayout { cookie, slices, info_slices, kind, thread, entries, pages, delayed })
}

const SEGMENT_2_0_6: [u64; 7] = [320, 328, 336, 344, 352, 360, 368];
const SEGMENT_2_0_9: [u64; 7] = [216, 224, 232, 240, 256, 248, 264];
const SEGMENT_2_1_9: [u64; 7] = [224, 248, 256, 264, 280, 272, 288];

/// Pages of 2.0 and 2.1.2: the block's size is a half word.
const fn old_page(start: Start) -> PageLayout {
    PageLayout {
        bytes: 80,
        capacity: 10,
        reserved: 12,
        free: 16,
        local_free: 32,
        thread_free: 40,
        used: (24, 4),
        block_size: (28, 4),
        heap: 48,
        keys: None,
        start,
        is_padded: false,
    }
}

const fn old_secure_page(start: Start, is_padded: bool) -> PageLayout {
    let plain = old_page(start);
    PageLayout { bytes: 96, thread_free: 56, heap: 64, keys: Some(40), is_padded, ..plain }
}

/// Pages of 2.1.4 to 2.4.
const NEW_PAGE: PageLayout = PageLayout {
    bytes: 96,
    capacity: 10,
    reserved: 12,
    free: 16,
    local_free: 24,
    thread_free: 56,
    used: (32, 2),
    block_size: (40, 8),
    heap: 64,
    keys: None,
    start: Start::Stored(48),
    is_padded: false,
};
const NEW_SECURE_PAGE: PageLayout = PageLayout {
    bytes: 112,
    thread_free: 72,
    heap: 80,
    keys: Some(56),
    is_padded: true,
    ..NEW_PAGE
};

/// Pages of 3.x.
const PAGE_3: PageLayout = PageLayout {
    bytes: 120,
    capacity: 18,
    reserved: 20,
    free: 8,
    local_free: 24,
    thread_free: 32,
    used: (16, 2),
    block_size: (40, 8),
    heap: 64,
    keys: None,
    start: Start::Stored(48),
    is_padded: false,
};
const SECURE_PAGE_3: PageLayout =
    PageLayout { bytes: 136, heap: 80, keys: Some(56), is_padded: true, ..PAGE_3 };

const fn layout(
    versions: &'static str,
    segment: Option<SegmentLayout>,
    page: PageLayout,
) -> Layout {
    Layout { versions, segment, page }
}

/// All layouts. Those that look alike stand with the likelier one first.
pub(super) const LAYOUTS: [Layout; 15] = [
    layout("3.0 to 3.3", None, PAGE_3),
    layout("3.2 and 3.3, secure", None, SECURE_PAGE_3),
    layout("3.0 and 3.1, secure", None, PageLayout { keys: Some(64), ..SECURE_PAGE_3 }),
    layout("3.4", None, PageLayout { start: Start::Words(48), ..PAGE_3 }),
    layout("3.4, secure", None, PageLayout { start: Start::Words(48), ..SECURE_PAGE_3 }),
    layout("2.1.9 to 2.4", segment(SEGMENT_2_1_9, (8, 40)), NEW_PAGE),
    layout("2.1.9 to 2.4, secure", segment(SEGMENT_2_1_9, (8, 40)), NEW_SECURE_PAGE),
    layout("2.1.4 to 2.1.7", segment(SEGMENT_2_0_9, (8, 40)), NEW_PAGE),
    layout("2.1.4 to 2.1.7, secure", segment(SEGMENT_2_0_9, (8, 40)), NEW_SECURE_PAGE),
    layout("2.0.9", segment(SEGMENT_2_0_9, (2840, 2872)), old_page(Start::Behind(384))),
    layout(
        "2.0.9, secure",
        segment(SEGMENT_2_0_9, (2840, 2872)),
        old_secure_page(Start::Behind(384), false),
    ),
    layout("2.1.0 to 2.1.2", segment(SEGMENT_2_0_9, (2840, 2872)), old_page(Start::Blocks)),
    layout(
        "2.1.0 to 2.1.2, secure",
        segment(SEGMENT_2_0_9, (2848, 2880)),
        old_secure_page(Start::Blocks, true),
    ),
    layout("2.0.6 and 2.0.7", segment(SEGMENT_2_0_6, (2840, 2872)), old_page(Start::Behind(128))),
    layout(
        "2.0.6 and 2.0.7, secure",
        segment(SEGMENT_2_0_6, (2840, 2872)),
        PageLayout {
            used: (40, 4),
            block_size: (44, 4),
            local_free: 48,
            keys: Some(24),
            ..old_secure_page(Start::Behind(128), false)
        },
    ),
];
