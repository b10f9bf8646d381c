//! Caches of threads (`ThreadCache`): a list of free blocks for each size class. They tell the sizes of the classes, too.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddressSpace};
use kcore_unwind::Tid;
use rustc_hash::FxHashSet;

use crate::module_words::{each_word, is_anonymous, word};
use crate::{HeapHost, HeapModule, ListId};

/// A list: head, length, three limits, and the size of its blocks.
const LIST: u64 = 32;
const LENGTH: u64 = 8;
const SIZE: u64 = 24;
/// Lists of a cache (`kClassSizesMax`): since 2.8, and before.
const CLASSES: [u64; 2] = [128, 96];
/// Classes that show that they are classes.
const ENOUGH: usize = 32;
/// Behind the lists: where the thread's identity may lie, in bytes.
const TAIL: u64 = 128;
const MAX_CACHES: usize = 1 << 16;
const MAX_BLOCKS: usize = 1 << 24;
/// Blocks of one list that are followed, at most: tcmalloc itself keeps 8,192.
const MAX_LENGTH: u64 = 1 << 14;

/// The cache of a thread.
#[derive(Clone, Debug)]
pub(super) struct ThreadCache {
    pub(super) at: Addr,
    pub(super) thread: Option<Tid>,
    /// Blocks in its lists by their counters.
    pub(super) counted: u64,
    /// Bytes in its lists, as it says itself.
    pub(super) size: u64,
}

/// A block in a cache.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cached {
    pub(super) at: Addr,
    /// The number of the cache; [`TRANSFER`] is no thread's.
    pub(super) cache: u32,
    pub(super) class: u8,
}

/// The number that stands for transfer caches.
pub(super) const TRANSFER: u32 = 0x003f_ffff;

impl Cached {
    pub(super) const fn list(self) -> ListId {
        ListId(self.cache << 8 | self.class as u32)
    }
}

/// All caches of threads, and the sizes of the classes.
#[derive(Debug, Default)]
pub(super) struct Caches {
    /// The sizes of all classes; that of class 0, which is for large blocks, is 0.
    pub(super) sizes: Vec<u64>,
    pub(super) caches: Vec<ThreadCache>,
    pub(super) blocks: Vec<Cached>,
}

impl Caches {
    /// The caches of a module: a variable of it leads to one, and each to the next. `None` where none proves itself.
    pub(super) fn find(host: &dyn HeapHost, module: &dyn HeapModule) -> Option<Self> {
        let space = host.space();
        let mut found = None;
        for range in module.data() {
            let _ = each_word(space, range, &mut |_, value| {
                let at = Addr::new(value);
                if value.is_multiple_of(8) && value >> 47 == 0 && is_anonymous(host, at) {
                    found = sizes_in(space, at).map(|sizes| (at, sizes));
                }
                if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        let (first, sizes) = found?;
        let mut caches = Self { sizes, ..Self::default() };
        caches.follow(host, first);
        Some(caches)
    }

    /// Takes all caches that are linked with one.
    fn follow(&mut self, host: &dyn HeapHost, first: Addr) {
        let space = host.space();
        let threads = threads(host);
        let Some(tail) = tail_of(space, first, &self.sizes, &threads) else {
            return self.add(space, first, None, 0);
        };
        let mut seen = FxHashSet::default();
        let mut wanted = vec![first];
        while let Some(at) = wanted.pop().filter(|_| seen.len() < MAX_CACHES) {
            if !seen.insert(at) || sizes_in(space, at).as_ref() != Some(&self.sizes) {
                continue;
            }
            let pointer = word(space, at.saturating_add(tail.thread));
            let thread = threads.iter().find(|(its, _)| *its == pointer).map(|(_, thread)| *thread);
            let size = space.read_uint(at.saturating_add(tail.size), 4).unwrap_or(0);
            self.add(space, at, thread, size);
            let links = [16, 24]
                .map(|offset| word(space, at.saturating_add(tail.thread.wrapping_add(offset))));
            wanted.extend(links.into_iter().filter(|link| *link != 0).map(Addr::new));
        }
        self.blocks.sort_unstable();
    }

    fn add(&mut self, space: &dyn AddressSpace, at: Addr, thread: Option<Tid>, size: u64) {
        let number =
            u32::try_from(self.caches.len()).unwrap_or(TRANSFER).min(TRANSFER.wrapping_sub(1));
        let mut counted = 0_u64;
        for class in 1..self.sizes.len() {
            let list = at.saturating_add((class as u64).wrapping_mul(LIST));
            let length = space.read_uint(list.saturating_add(LENGTH), 4).unwrap_or(0);
            counted = counted.saturating_add(length);
            let class = u8::try_from(class).unwrap_or(u8::MAX);
            self.chain(space, Addr::new(word(space, list)), length, number, class);
        }
        self.caches.push(ThreadCache { at, thread, counted, size });
    }

    /// Takes the blocks of a list that says how many it has.
    pub(super) fn chain(
        &mut self,
        space: &dyn AddressSpace,
        head: Addr,
        length: u64,
        cache: u32,
        class: u8,
    ) {
        let mut next = head;
        for _ in 0..length.min(MAX_LENGTH) {
            if next.get() == 0 || self.blocks.len() >= MAX_BLOCKS {
                break;
            }
            let Ok(link) = space.read_addr(next) else { break };
            self.blocks.push(Cached { at: next, cache, class });
            next = link;
        }
    }
}

/// Offsets behind the lists of a cache.
struct Tail {
    size: u64,
    thread: u64,
}

/// Where what is behind the lists lies: of some cache, the identity of its thread is that of a thread that is there.
fn tail_of(
    space: &dyn AddressSpace,
    first: Addr,
    sizes: &[u64],
    threads: &[(u64, Tid)],
) -> Option<Tail> {
    CLASSES.iter().find_map(|classes| {
        let size = classes.wrapping_mul(LIST);
        (0..TAIL).step_by(8).map(|offset| size.wrapping_add(offset)).find_map(|thread| {
            let pointer = word(space, first.saturating_add(thread));
            let links = [16, 24].map(|offset| {
                Addr::new(word(space, first.saturating_add(thread.wrapping_add(offset))))
            });
            let others = links.into_iter().filter(|link| link.get() != 0);
            let all_are =
                others.clone().all(|link| sizes_in(space, link).as_deref() == Some(sizes));
            // The first cache is made before its thread has an identity.
            let is_known = threads.iter().any(|(its, _)| *its == pointer);
            let is_linked = pointer == 0 && others.count() > 0;
            (all_are && (is_known || is_linked)).then_some(Tail { size, thread })
        })
    })
}

fn threads(host: &dyn HeapHost) -> Vec<(u64, Tid)> {
    let of = |thread: Tid| Some((host.thread_pointer(thread)?.get(), thread));
    host.threads().into_iter().filter_map(of).collect()
}

/// The sizes of the classes, if a cache lies at an address: they begin with 0, 8 and 16, and ascend.
fn sizes_in(space: &dyn AddressSpace, at: Addr) -> Option<Vec<u64>> {
    let size = |class: u64| {
        let at = at.checked_add(class.wrapping_mul(LIST))?.checked_add(SIZE)?;
        space.read_uint(at, 4).ok()
    };
    if [size(0)?, size(1)?, size(2)?] != [0, 8, 16] {
        return None;
    }
    let mut sizes = vec![0_u64];
    for class in 1..128 {
        let Some(next) =
            size(class).filter(|next| *next > *sizes.last().unwrap_or(&0) && *next <= 1 << 20)
        else {
            break;
        };
        sizes.push(next);
    }
    (sizes.len() >= ENOUGH).then_some(sizes)
}
