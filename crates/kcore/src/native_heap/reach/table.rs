//! The blocks in use of all heaps, in about six bytes each.
//!
//! A block has a number, by which other structures know it. Pages of [`PAGE`] bytes lead from an address to numbers and
//! back: a block has no more of its address than where it begins in its page.

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashMap;

/// Bytes of a page, as a power of two.
const PAGE_BITS: u32 = 12;
const PAGE: u64 = 1 << PAGE_BITS;
/// Pages without a block's beginning, within a span.
const MAX_GAP: u64 = 64;
/// The size of a block stands elsewhere.
const LARGE: u32 = u32::MAX;
/// Blocks that have numbers, at most.
pub const MAX_BLOCKS: u32 = 1 << 31;

/// A block of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableBlock {
    /// Its number.
    pub number: u32,
    /// Where it begins.
    pub start: Addr,
}

/// The blocks. What allocators have for themselves is none: an address in it says nothing of whether the program still
/// has a block.
#[derive(Default)]
pub struct BlockTable {
    /// Where in its page each block begins.
    offsets: Vec<u16>,
    /// The usable bytes of each.
    sizes: Vec<u32>,
    /// Those of blocks of 4 GiB and more.
    large: FxHashMap<u32, u64>,
    /// For each page of each span, the number of the first block that begins in it or behind it.
    pages: Vec<u32>,
    /// By the addresses, lowest first.
    spans: Vec<Span>,
    /// The same by numbers: indices of `spans`.
    by_number: Vec<u32>,
    low: u64,
    high: u64,
}

/// Pages in a row. The numbers of their blocks are in a row as well.
#[derive(Clone, Copy)]
struct Span {
    page: u64,
    page_count: u64,
    /// The index of its first page in the table of pages.
    pages: usize,
    first: u32,
    end: u32,
}

impl BlockTable {
    /// Of a list of blocks, by where they begin and end. They may come in any order, but quickest in that of their
    /// addresses. Of two that overlap, the one that begins first counts.
    pub fn builder() -> TableBuilder {
        TableBuilder { table: Self { low: u64::MAX, ..Self::default() }, last: (0, 0) }
    }

    /// How many blocks there are.
    pub fn count(&self) -> u32 {
        u32::try_from(self.offsets.len()).unwrap_or(u32::MAX)
    }

    /// The lowest address of a block, and the end of the highest one: what is not between is in none.
    pub const fn bounds(&self) -> (u64, u64) {
        (self.low, self.high)
    }

    /// The block that holds an address.
    pub fn find(&self, at: u64) -> Option<TableBlock> {
        if at < self.low || at >= self.high {
            return None;
        }
        let page = at >> PAGE_BITS;
        let index = self.spans.partition_point(|span| span.page <= page).checked_sub(1)?;
        let span = self.spans.get(index)?;
        let into = page.wrapping_sub(span.page);
        let (low, high) = match into < span.page_count {
            true => self.of_page(span, into),
            // No block begins in the page: a larger one may hold it.
            false => (span.end, span.end),
        };
        let offset = (at % PAGE) as u16;
        let of_page = self.offsets.get(low as usize..high as usize).unwrap_or_default();
        let before = of_page.partition_point(|start| *start <= offset);
        let block = match before.checked_sub(1).and_then(|last| of_page.get(last)) {
            Some(start) => TableBlock {
                number: low.wrapping_add(before as u32).wrapping_sub(1),
                start: Addr::new((page << PAGE_BITS) | u64::from(*start)),
            },
            None if low > span.first => self.block(low.wrapping_sub(1))?,
            None => self.block(self.spans.get(index.checked_sub(1)?)?.end.checked_sub(1)?)?,
        };
        (at.wrapping_sub(block.start.get()) < self.size(block.number)).then_some(block)
    }

    /// The numbers of the blocks that begin in a page of a span.
    fn of_page(&self, span: &Span, into: u64) -> (u32, u32) {
        let index = span.pages.saturating_add(into as usize);
        let low = self.pages.get(index).copied().unwrap_or(span.end);
        let is_last = into.saturating_add(1) >= span.page_count;
        let next = || self.pages.get(index.saturating_add(1)).copied();
        (low, if is_last { span.end } else { next().unwrap_or(span.end) })
    }

    /// The block of a number.
    pub fn block(&self, number: u32) -> Option<TableBlock> {
        let offset = *self.offsets.get(number as usize)?;
        let first = |index: &u32| self.spans.get(*index as usize).map_or(u32::MAX, |it| it.first);
        let below = self.by_number.partition_point(|index| first(index) <= number);
        let index = *self.by_number.get(below.checked_sub(1)?)?;
        let span = self.spans.get(index as usize)?;
        let end = span.pages.checked_add(usize::try_from(span.page_count).ok()?)?;
        let pages = self.pages.get(span.pages..end)?;
        let into = pages.partition_point(|first| *first <= number).checked_sub(1)? as u64;
        let start = (span.page.checked_add(into)? << PAGE_BITS) | u64::from(offset);
        Some(TableBlock { number, start: Addr::new(start) })
    }

    /// The usable bytes of the block of a number.
    pub fn size(&self, number: u32) -> u64 {
        match self.sizes.get(number as usize) {
            Some(&LARGE) => self.large.get(&number).copied().unwrap_or(0),
            Some(size) => u64::from(*size),
            None => 0,
        }
    }

    /// The addresses of a block.
    pub fn range(&self, block: TableBlock) -> AddrRange {
        AddrRange::with_len(block.start, self.size(block.number))
    }

    /// All blocks, by their numbers.
    fn all(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let of_page = move |span: &Span, into: u64| {
            let (low, high) = self.of_page(span, into);
            let page = span.page.wrapping_add(into) << PAGE_BITS;
            (low..high).filter_map(move |number| {
                let start = page | u64::from(*self.offsets.get(number as usize)?);
                Some((start, start.saturating_add(self.size(number))))
            })
        };
        self.spans.iter().flat_map(move |span| {
            let span = *span;
            (0..span.page_count).flat_map(move |into| of_page(&span, into))
        })
    }
}

/// Makes a table.
pub struct TableBuilder {
    table: BlockTable,
    /// Where the block before begins and ends.
    last: (u64, u64),
}

impl TableBuilder {
    /// Adds a block; false when there are too many.
    pub fn push(&mut self, start: u64, end: u64) -> bool {
        let number = self.table.count();
        if number >= MAX_BLOCKS {
            return false;
        }
        let is_behind = start >= self.last.0;
        if is_behind && start < self.last.1 {
            return true;
        }
        self.reach_page(start >> PAGE_BITS, number, is_behind);
        self.last = (start, end);
        let table = &mut self.table;
        table.offsets.push((start % PAGE) as u16);
        let size = end.saturating_sub(start);
        table.sizes.push(u32::try_from(size).unwrap_or(LARGE));
        if size >= u64::from(LARGE) {
            table.large.insert(number, size);
        }
        table.low = table.low.min(start);
        table.high = table.high.max(end);
        true
    }

    /// Makes pages up to the one in which a block begins, in the last span or in a new one.
    fn reach_page(&mut self, page: u64, number: u32, is_behind: bool) {
        let BlockTable { spans, pages, .. } = &mut self.table;
        let is_near = |span: &&mut Span| {
            let end = span.page.saturating_add(span.page_count);
            is_behind && page < end.saturating_add(MAX_GAP)
        };
        match spans.last_mut().filter(is_near) {
            Some(span) => {
                while span.page.saturating_add(span.page_count) <= page {
                    span.page_count = span.page_count.saturating_add(1);
                    pages.push(number);
                }
                span.end = number.saturating_add(1);
            }
            None => {
                let end = number.saturating_add(1);
                spans.push(Span { page, page_count: 1, pages: pages.len(), first: number, end });
                pages.push(number);
            }
        }
    }

    /// The table. Where spans overlap, because one heap lies in a block of another one, it is made anew from all blocks in
    /// order.
    pub fn finish(self) -> BlockTable {
        let mut table = self.table;
        let mut order: Vec<u32> = (0..).zip(&table.spans).map(|(index, _)| index).collect();
        let page = |index: &u32| table.spans.get(*index as usize).map_or(0, |span| span.page);
        order.sort_by_key(page);
        let sorted: Vec<Span> =
            order.iter().filter_map(|index| table.spans.get(*index as usize).copied()).collect();
        table.spans = sorted;
        if table.has_overlaps() {
            return table.in_order();
        }
        let mut by_number: Vec<u32> = (0..).zip(&order).map(|(index, _)| index).collect();
        by_number.sort_by_key(|index| order.get(*index as usize));
        table.by_number = by_number;
        table
    }
}

impl BlockTable {
    fn has_overlaps(&self) -> bool {
        let end_of = |span: &Span| {
            let last = span.page.saturating_add(span.page_count).saturating_sub(1);
            let (low, high) = self.of_page(span, span.page_count.saturating_sub(1));
            let number = if low < high { high.saturating_sub(1) } else { span.first };
            let offset = self.offsets.get(number as usize).copied().unwrap_or(0);
            ((last << PAGE_BITS) | u64::from(offset)).saturating_add(self.size(number))
        };
        self.spans.windows(2).any(|two| match two {
            [one, next] => {
                let is_apart = one.page.saturating_add(one.page_count) <= next.page;
                let first = self.offsets.get(next.first as usize).copied().unwrap_or(0);
                !is_apart || end_of(one) > (next.page << PAGE_BITS) | u64::from(first)
            }
            _ => false,
        })
    }

    /// The same blocks by their addresses, without those that lie in others.
    fn in_order(&self) -> Self {
        let mut all: Vec<(u64, u64)> = self.all().collect();
        all.sort_unstable();
        let mut builder = Self::builder();
        let mut end = 0;
        for (start, limit) in all {
            if start >= end && builder.push(start, limit) {
                end = limit;
            }
        }
        builder.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(blocks: &[(u64, u64)]) -> BlockTable {
        let mut builder = BlockTable::builder();
        assert!(blocks.iter().all(|(start, end)| builder.push(*start, *end)));
        builder.finish()
    }

    /// The block that holds an address, by all blocks.
    fn by_hand(blocks: &[(u64, u64)], at: u64) -> Option<u64> {
        blocks.iter().find(|(start, end)| (*start..*end).contains(&at)).map(|(start, _)| *start)
    }

    fn holds(blocks: &[(u64, u64)], table: &BlockTable) {
        assert_eq!(table.count() as usize, blocks.len());
        for (start, end) in blocks {
            let near = [start.wrapping_sub(1), *start, start + (end - start) / 2, end - 1, *end];
            for at in near {
                let found = table.find(at);
                assert_eq!(found.map(|it| it.start.get()), by_hand(blocks, at), "{at:x}");
                if let Some(found) = found {
                    assert_eq!(table.block(found.number), Some(found), "{at:x}");
                    let range = table.range(found);
                    assert!(blocks.contains(&(range.start.get(), range.end.get())));
                }
            }
        }
    }

    #[test]
    fn blocks_are_found_by_their_addresses_and_numbers() {
        let mut blocks = Vec::new();
        let mut state = 7_u64;
        let mut at = 0x55_0000_0010;
        for _ in 0..5000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let size = match state >> 60 {
                0 => 1 << 20,
                1 => 70_000,
                size => 8 * size + 8,
            };
            blocks.push((at, at + size));
            at += size + (state >> 33) % 3 * 8 + if state >> 57 == 100 { 1 << 30 } else { 0 };
        }
        blocks.push((at, at + (5 << 30)));
        holds(&blocks, &table(&blocks));
    }

    #[test]
    fn heaps_one_after_the_other_need_not_be_in_order() {
        let blocks = [(0x70_0000, 0x70_0040), (0x70_0040, 0x90_0000), (0x1_0000, 0x1_0100)];
        holds(&blocks, &table(&blocks));
    }

    #[test]
    fn a_heap_in_a_block_of_another_one_counts_as_that_block() {
        let outer = [(0x1_0000, 0x9_0000), (0x9_0010, 0x9_0020)];
        let inner = [(0x2_0000, 0x2_0010), (0x2_0010, 0x2_0020), (0x8_fff0, 0x9_0000)];
        let all = [outer.as_slice(), &inner].concat();
        holds(&outer, &table(&all));
        holds(&outer, &table(&[inner.as_slice(), &outer].concat()));
    }

    #[test]
    fn no_block_is_in_an_empty_table() {
        let empty = table(&[]);
        assert!(empty.find(0).is_none() && empty.find(u64::MAX).is_none());
        assert!(empty.block(0).is_none() && empty.size(0) == 0);
    }
}
