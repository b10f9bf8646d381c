//! The blocks of a span that it has not handed out: in a bitmap where there are few, else in lists of half words that lie
//! in the span and in free blocks themselves (`span.cc`).

use kcore_mem::{Addr, AddressSpace};

use super::layout::Layout;
use super::span::Span;

/// What stands for no block in lists (`kListEnd`).
const END: u16 = u16::MAX;
/// Indices count such units (`kAlignment`).
const UNIT: u64 = 8;
/// Indices in a span itself (`kCacheSize`).
const CACHE: usize = 8;

/// What a list leads to that is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Broken {
    /// No block begins there.
    NoBlock(Addr),
    /// A block that is in the lists already.
    Again(Addr),
    /// The block that lists others has no bytes.
    Unreadable(Addr),
}

/// Which blocks of a span are free.
#[derive(Debug)]
pub(super) struct Objects {
    /// A bit for each block.
    free: Vec<u64>,
    pub(super) count: u64,
    pub(super) broken: Option<Broken>,
}

impl Objects {
    /// Of a span with blocks of a size, up to what is wrong in its lists.
    pub(super) fn of(space: &dyn AddressSpace, layout: Layout, span: &Span, size: u64) -> Self {
        let words = usize::try_from(span.blocks(size).div_ceil(64)).unwrap_or(0);
        let mut objects = Self { free: vec![0; words], count: 0, broken: None };
        match size >= layout.least_in_bitmap() {
            true => objects.take_bitmap(span, size),
            false => objects.broken = objects.take_lists(space, span, size).err(),
        }
        objects
    }

    fn take_bitmap(&mut self, span: &Span, size: u64) {
        let blocks = span.blocks(size);
        let bits = span.free.cache.iter().flat_map(|word| (0..64).map(move |bit| word >> bit & 1));
        for (index, _) in (0..).zip(bits).filter(|(_, bit)| *bit == 1) {
            match index < blocks {
                true => self.set(index),
                false => {
                    let at = span.range.start.saturating_add(size.saturating_mul(index));
                    self.broken = Some(Broken::NoBlock(at));
                }
            }
        }
    }

    fn take_lists(
        &mut self,
        space: &dyn AddressSpace,
        span: &Span,
        size: u64,
    ) -> Result<(), Broken> {
        let halves =
            span.free.cache.iter().flat_map(|word| [0, 16, 32, 48].map(|from| word >> from));
        for half in halves.take(usize::from(span.free.cached).min(CACHE)) {
            self.take(span, size, half as u16)?;
        }
        let full = (size / 2).saturating_sub(1);
        let (mut host, mut embedded) = (span.free.list, u64::from(span.free.embedded).min(full));
        while host != END {
            let at = address(span, host);
            self.take(span, size, host)?;
            let half = |index: u64| space.read_uint(at.saturating_add(index << 1), 2);
            for index in 1..=embedded {
                let half = half(index).map_err(|_| Broken::Unreadable(at))?;
                self.take(span, size, half as u16)?;
            }
            (host, embedded) = (half(0).map_err(|_| Broken::Unreadable(at))? as u16, full);
        }
        Ok(())
    }

    fn take(&mut self, span: &Span, size: u64, index: u16) -> Result<(), Broken> {
        let at = address(span, index);
        match span.index_of(size, at) {
            Some(index) if !self.is_free(index) => self.set(index),
            Some(_) => return Err(Broken::Again(at)),
            None => return Err(Broken::NoBlock(at)),
        }
        Ok(())
    }

    fn set(&mut self, index: u64) {
        if let Some(word) = self.free.get_mut(index as usize / 64) {
            *word |= 1_u64.wrapping_shl(index as u32 % 64);
            self.count = self.count.saturating_add(1);
        }
    }

    /// Whether a block has not been handed out.
    pub(super) fn is_free(&self, index: u64) -> bool {
        self.free
            .get(index as usize / 64)
            .is_some_and(|word| word.wrapping_shr(index as u32 % 64) & 1 == 1)
    }
}

fn address(span: &Span, index: u16) -> Addr {
    span.range.start.saturating_add(u64::from(index).wrapping_mul(UNIT))
}
