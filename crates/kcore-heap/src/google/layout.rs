//! What differs between builds: the size of pages, and how many size classes there are.

/// Bits of an address (`kAddressBits`).
const ADDRESS_BITS: u32 = 48;
/// Entries of a leaf of the map, as a power of two (`PageMap2::kLeafBits`).
const LG_LEAF: u32 = 15;
/// Bits of a huge page.
const LG_HUGE: u32 = 21;
/// Bits that a span keeps in reserve between its first page and its marks (`kReservedBits`).
const RESERVED_BITS: u32 = 26;

/// The layout of one build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    /// Of the size of a page, the binary logarithm (`kPageShift`).
    pub(super) lg_page: u32,
    /// Bytes of a size class in a leaf: 1, or 2 where there are more than 256 of them (`CompactSizeClass`).
    pub(super) class_bytes: u64,
}

/// The layouts that builds of the allocator choose from, the usual one first. Builds for little memory (`SMALL_BUT_SLOW`) have
/// a map of three levels, which is not read.
pub(super) const LAYOUTS: [Layout; 4] = [
    Layout { lg_page: 13, class_bytes: 1 },
    Layout { lg_page: 15, class_bytes: 1 },
    Layout { lg_page: 18, class_bytes: 1 },
    // With a part for each NUMA node.
    Layout { lg_page: 13, class_bytes: 2 },
];

impl Layout {
    /// Bytes of a page.
    pub(super) const fn page(self) -> u64 {
        1_u64.wrapping_shl(self.lg_page)
    }

    /// Entries of a leaf.
    pub(super) const fn leaf_entries(self) -> u64 {
        1 << LG_LEAF
    }

    /// The number of the leaf that has a page.
    pub(super) const fn leaf_of(self, page: u64) -> u64 {
        page.wrapping_shr(LG_LEAF)
    }

    /// The index of a page in its leaf.
    pub(super) const fn index_of(self, page: u64) -> u64 {
        page & self.leaf_entries().wrapping_sub(1)
    }

    /// Bytes of the root, which has a pointer for each leaf.
    pub(super) const fn root_bytes(self) -> u64 {
        8_u64.wrapping_shl(self.page_bits().wrapping_sub(LG_LEAF))
    }

    /// Where a leaf has its pointers to spans: behind the size classes.
    pub(super) const fn spans_at(self) -> u64 {
        self.class_bytes.wrapping_shl(LG_LEAF)
    }

    /// Bytes of a leaf: size classes, spans, and what it has of each huge page.
    pub(super) const fn leaf_bytes(self) -> u64 {
        let huge_pages =
            8_u64.wrapping_shl(LG_LEAF.wrapping_add(self.lg_page).wrapping_sub(LG_HUGE));
        self.spans_at().wrapping_add(8 << LG_LEAF).wrapping_add(huge_pages)
    }

    /// Bits of the number of a page.
    pub(super) const fn page_bits(self) -> u32 {
        ADDRESS_BITS.wrapping_sub(self.lg_page)
    }

    /// The bit of the word with a span's first page that says that it is large; the next one, that it is sampled. Between
    /// them is a bit field of 32 bits, which crosses no boundary of 32 bits.
    pub(super) const fn large_bit(self) -> u32 {
        let bits = self.page_bits();
        match bits % 32 > 32 - RESERVED_BITS {
            true => 32 + RESERVED_BITS,
            false => bits.wrapping_add(RESERVED_BITS),
        }
    }

    /// The smallest blocks of which a bitmap tells which are free, and no list (`kBitmapMinObjectSize`).
    pub(super) const fn least_in_bitmap(self) -> u64 {
        self.page() / BITMAP_BITS
    }
}

/// Bits of the bitmap in a span (`kBitmapSize`).
pub(super) const BITMAP_BITS: u64 = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_compiled_structures() {
        let [usual, _, large, numa] = LAYOUTS;
        assert_eq!((usual.root_bytes(), usual.leaf_bytes()), (8 << 20, 295_936));
        assert_eq!(usual.large_bit(), 61);
        assert_eq!(large.large_bit(), 58);
        assert_eq!(numa.spans_at(), 1 << 16);
        assert_eq!(usual.least_in_bitmap(), 64);
    }
}
