//! Transfer caches: blocks that wait between the caches of processors or threads and the spans (`TransferCache`). Behind
//! each is the central list of its class, which knows the class and its size, and counts what its spans have.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddressSpace};

use super::cache::{Caches, Holder};
use crate::module_words::{each_word, is_anonymous, word};
use crate::{HeapHost, HeapModule};

/// From the number of the class in its central list: how many blocks the transfer cache has, and where their addresses are.
const USED_BEFORE: u64 = 24;
const SLOTS_BEFORE: u64 = 16;
/// Behind it: the size of the class.
const SIZE: u64 = 8;
/// Bytes from one class to the next, at most.
const MAX_STRIDE: u64 = 1 << 13;
/// Blocks of one class: tcmalloc keeps 64 times 128.
const MAX_USED: u64 = 1 << 14;

/// From the number of the class: how many blocks its spans have that are in no cache and not the program's.
const COUNTER: u64 = 48;
/// Classes that show that the lists are what they seem, and those that are read.
const ENOUGH: u64 = 24;
const MAX_CLASSES: u64 = 512;

/// The central lists of all classes, each behind its transfer cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Central {
    /// The number of class 1 in its central list.
    first: Addr,
    /// Bytes from one class to the next.
    stride: u64,
    /// How many classes there are, with class 0.
    pub(super) classes: u64,
}

impl Central {
    /// Those of a module: each says its own number and the size of its blocks.
    pub(super) fn find(
        host: &dyn HeapHost,
        module: &dyn HeapModule,
        sizes: &[u64],
    ) -> Option<Self> {
        let mut found = None;
        for range in module.data() {
            let _ = each_word(host.space(), range, &mut |at, value| {
                if value == 1 && says(host.space(), at, 1, sizes) {
                    found = Self::from_first(host, at, sizes);
                }
                if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if found.is_some() {
                break;
            }
        }
        found
    }

    fn from_first(host: &dyn HeapHost, first: Addr, sizes: &[u64]) -> Option<Self> {
        let space = host.space();
        let strides = (1..MAX_STRIDE / 8).map(|words| words << 3);
        let mut strides =
            strides.filter(|stride| says(space, first.saturating_add(*stride), 2, sizes));
        strides.find_map(|stride| {
            let list = Self { first, stride, classes: 0 };
            let is_next = |class: &u64| {
                says(space, list.of(*class), *class, sizes) && list.is_whole(host, *class)
            };
            let last = (1..MAX_CLASSES).take_while(is_next).last()?;
            (last >= ENOUGH).then_some(Self { classes: last.saturating_add(1), ..list })
        })
    }

    /// The number of a class in its central list.
    fn of(&self, class: u64) -> Addr {
        self.first.saturating_add(self.stride.wrapping_mul(class.saturating_sub(1)))
    }

    /// Whether the transfer cache of a class has room for its blocks.
    fn is_whole(&self, host: &dyn HeapHost, class: u64) -> bool {
        let (used, capacity) = self.counts(host.space(), class);
        let has_room = || is_anonymous(host, self.slots(host.space(), class));
        used <= capacity && (capacity == 0 || has_room())
    }

    /// How many blocks the transfer cache of a class has, and how many it may have.
    fn counts(&self, space: &dyn AddressSpace, class: u64) -> (u64, u64) {
        let counts = word(space, before(self.of(class), USED_BEFORE));
        (counts & 0xffff_ffff, counts >> 32)
    }

    fn slots(&self, space: &dyn AddressSpace, class: u64) -> Addr {
        Addr::new(word(space, before(self.of(class), SLOTS_BEFORE)))
    }

    /// How many blocks the spans of all classes have, as the lists count them.
    pub(super) fn counted(&self, space: &dyn AddressSpace) -> u64 {
        let counter = |class: u64| word(space, self.of(class).saturating_add(COUNTER));
        (1..self.classes).map(counter).fold(0, u64::wrapping_add)
    }

    /// Adds the blocks of transfer caches.
    pub(super) fn add_cached(&self, space: &dyn AddressSpace, caches: &mut Caches) {
        let cache = caches.add(self.first, Holder::Transfer, None);
        for class in 1..self.classes {
            let slots = self.slots(space, class);
            for slot in 0..self.counts(space, class).0.min(MAX_USED) {
                let Ok(block) = space.read_addr(slots.saturating_add(slot << 3)) else { break };
                if !caches.push(block, cache, u16::try_from(class).unwrap_or(u16::MAX)) {
                    return;
                }
            }
        }
    }
}

fn before(at: Addr, bytes: u64) -> Addr {
    Addr::new(at.get().saturating_sub(bytes))
}

/// Whether a central list has its number at an address: that and the size of the class are beside each other.
fn says(space: &dyn AddressSpace, at: Addr, class: u64, sizes: &[u64]) -> bool {
    let size = usize::try_from(class).ok().and_then(|class| sizes.get(class)).copied();
    word(space, at) == class && Some(word(space, at.saturating_add(SIZE))) == size
}
