//! One span of the heap, a `runtime.mspan`: pages that hold slots of one size, or a stack.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{
    layout::{HeapLayout, Masks, SpanLayout},
    size_class::{PAGE, is_of_class},
};

/// Fields that lie alike in all versions.
const START: u64 = 24;
const PAGES: u64 = 32;
const COUNTS: u64 = 48;
/// From the generation of the sweep to other fields.
const CLASS: u64 = 10;
const STATE: u64 = 11;
const ELEMENT: u64 = 16;
const SPECIALS: u64 = 40;
/// States.
const IN_USE: u64 = 1;
const MANUAL: u64 = 2;
/// More pages than any object has.
const MAX_PAGES: u64 = 1 << 30;
/// The largest slots whose pointers the span tells, and the smallest whose marks it has.
pub const SMALL: u64 = 512;
const MARKED_INLINE: u64 = 16;
/// `runtime.spanInlineMarkBits`, at the end of the span's page, and where it has its marks.
pub const INLINE_MARKS: u64 = 128;
const MARKS: u64 = 64;

/// A span with objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its `runtime.mspan`.
    pub at: Addr,
    /// Its pages.
    pub pages: AddrRange,
    /// Bytes of a slot.
    pub slot: u64,
    /// How many slots it has.
    pub count: u32,
    /// The number of its first slot among those of all spans.
    pub first: u32,
    /// The number of its size, see [`super::size_class`].
    pub class: u8,
    /// Whether its objects hold no pointers.
    pub is_plain: bool,
    /// Whether what the last collection did not reach is still to be swept.
    pub is_unswept: bool,
    /// The type of its one large object, as far as the span has it.
    pub large_type: Option<Addr>,
}

/// What a `runtime.mspan` is.
pub enum FoundSpan {
    /// One with objects.
    Objects(Span),
    /// One with a stack, or another of the runtime's own things.
    Manual(AddrRange),
    /// One that is not used.
    Free,
    /// None that holds together.
    Damaged,
}

impl Span {
    /// What the `runtime.mspan` at an address says, where the heap's sweep is at a generation.
    pub fn load(
        space: &dyn AddressSpace,
        layout: &HeapLayout,
        generation: u32,
        at: Addr,
    ) -> FoundSpan {
        Self::read(space, layout, generation, at).unwrap_or(FoundSpan::Damaged)
    }

    fn read(
        space: &dyn AddressSpace,
        layout: &HeapLayout,
        generation: u32,
        at: Addr,
    ) -> Option<FoundSpan> {
        let field = |offset: u64, size: usize| space.read_uint(at.checked_add(offset)?, size).ok();
        let SpanLayout { count_size, sweep, large_type, .. } = layout.span;
        let behind = |offset: u64| sweep.saturating_add(offset);
        let state = field(behind(STATE), 1)?;
        if state != IN_USE && state != MANUAL {
            return (state == 0).then_some(FoundSpan::Free);
        }
        let (start, pages) = (Addr::new(field(START, 8)?), field(PAGES, 8)?);
        let is_one = start.get() != 0 && start.get().is_multiple_of(PAGE) && pages <= MAX_PAGES;
        let pages = AddrRange::with_len(start, pages.saturating_mul(PAGE));
        (is_one && !pages.is_empty()).then_some(())?;
        if state == MANUAL {
            return Some(FoundSpan::Manual(pages));
        }
        let class = u8::try_from(field(behind(CLASS), 1)?).ok()?;
        let slot = field(behind(ELEMENT), 8)?;
        let width = usize::try_from(count_size).ok()?;
        let count = u32::try_from(field(COUNTS.checked_add(count_size)?, width)?).ok()?;
        let fits = u64::from(count).checked_mul(slot)? <= pages.len();
        (fits && count > 0 && is_of_class(slot, class >> 1)).then_some(())?;
        let swept = u32::try_from(field(sweep, 4)?).ok()?;
        Some(FoundSpan::Objects(Self {
            at,
            pages,
            slot,
            count,
            first: 0,
            class: class >> 1,
            is_plain: class & 1 != 0,
            is_unswept: [generation.wrapping_sub(2), generation.wrapping_add(1)].contains(&swept),
            large_type: large_type
                .filter(|_| class >> 1 == 0)
                .and_then(|offset| field(offset, 8))
                .filter(|ty| *ty != 0)
                .map(Addr::new),
        }))
    }

    /// Where a slot begins.
    pub fn slot_at(&self, index: u32) -> Addr {
        self.pages.start.saturating_add(u64::from(index).saturating_mul(self.slot))
    }

    /// The slot that holds an address.
    pub fn index_of(&self, at: Addr) -> Option<u32> {
        let index = at.offset_from(self.pages.start)?.checked_div(self.slot)?;
        u32::try_from(index).ok().filter(|index| *index < self.count)
    }

    /// Which slots hold an object, a bit for each; `None` where that cannot be read.
    pub fn used(&self, space: &dyn AddressSpace, layout: &HeapLayout) -> Option<Vec<u8>> {
        let SpanLayout { count_size, allocated, .. } = layout.span;
        let field =
            |offset: u64, size: usize| space.read_uint(self.at.checked_add(offset)?, size).ok();
        let width = usize::try_from(count_size).ok()?;
        let begun = u32::try_from(field(COUNTS, width)?).ok()?.min(self.count);
        let mut bits = self.bits(space, Addr::new(field(allocated, 8)?))?;
        (0..begun).for_each(|index| set(&mut bits, index));
        if self.is_unswept {
            let marks =
                self.marks(space, layout, Addr::new(field(allocated.checked_add(8)?, 8)?))?;
            bits.iter_mut().zip(marks).for_each(|(bits, marks)| *bits &= marks);
        }
        Some(bits)
    }

    fn bits(&self, space: &dyn AddressSpace, at: Addr) -> Option<Vec<u8>> {
        let len = u64::from(self.count).div_ceil(8);
        let held = space.read_held(at, len);
        (held.len() as u64 == len).then_some(held)
    }

    /// What the last collection reached.
    fn marks(&self, space: &dyn AddressSpace, layout: &HeapLayout, at: Addr) -> Option<Vec<u8>> {
        let mut marks = self.bits(space, at)?;
        let is_inline =
            layout.masks == Masks::SpanWithMarks && (MARKED_INLINE..=SMALL).contains(&self.slot);
        if is_inline {
            let start = self.pages.start.checked_add(PAGE)?.get().checked_sub(INLINE_MARKS)?;
            let inline = self.bits(space, Addr::new(start.checked_add(MARKS)?))?;
            marks.iter_mut().zip(inline).for_each(|(marks, inline)| *marks |= inline);
        }
        Some(marks)
    }

    /// The first of what the runtime remembers of its objects.
    pub fn specials(&self, space: &dyn AddressSpace, layout: &HeapLayout) -> Option<Addr> {
        let at = self.at.checked_add(layout.span.sweep)?.checked_add(SPECIALS)?;
        space.read_addr(at).ok().filter(|at| at.get() != 0)
    }
}

fn set(bits: &mut [u8], index: u32) {
    if let Some(byte) = bits.get_mut(index as usize / 8) {
        *byte |= 1 << (index % 8);
    }
}
