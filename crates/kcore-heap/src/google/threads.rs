//! Caches of threads (`ThreadCache`), where the system has no restartable sequences for those of processors, or the C
//! library took them: a list of free blocks for each size class.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddressSpace};
use kcore_unwind::Tid;
use rustc_hash::FxHashSet;

use super::cache::{Caches, Holder};
use crate::module_words::{each_word, is_anonymous, word};
use crate::{HeapHost, HeapModule};

/// A list: head, length, and three limits.
const LIST: u64 = 24;
const LENGTH: u64 = 8;
/// Behind the lists: bytes in all of them, the limit of that, the thread's identity, a mark, and the neighbours.
const LIMIT: u64 = 8;
const THREAD: u64 = 16;
const NEIGHBOURS: [u64; 2] = [32, 40];
const ALIGNMENT: u64 = 64;
const MAX_CACHES: usize = 1 << 16;
/// Blocks of one list that are followed, at most: tcmalloc itself keeps 8,192.
const MAX_LENGTH: u64 = 1 << 14;

/// Adds the caches of threads, which are linked with one another.
pub(super) fn add(
    host: &dyn HeapHost,
    module: &dyn HeapModule,
    sizes: &[u64],
    caches: &mut Caches,
) {
    let Some(first) = find(host, module, sizes) else { return };
    let threads: Vec<(u64, Tid)> = threads(host);
    let (mut seen, mut wanted) = (FxHashSet::default(), vec![first]);
    while let Some(at) = wanted.pop().filter(|_| seen.len() < MAX_CACHES) {
        let Some(bytes) = bytes_said(host.space(), at, sizes).filter(|_| seen.insert(at)) else {
            continue;
        };
        let tail = tail(at, sizes);
        let pointer = word(host.space(), tail.saturating_add(THREAD));
        let thread = threads.iter().find(|(its, _)| *its == pointer).map(|(_, thread)| *thread);
        let cache = caches.add(at, Holder::Thread(thread), Some(bytes));
        take(host.space(), at, sizes, cache, caches);
        let links = NEIGHBOURS.map(|offset| word(host.space(), tail.saturating_add(offset)));
        wanted.extend(links.into_iter().filter(|link| *link != 0).map(Addr::new));
    }
}

/// The cache that a variable leads to.
fn find(host: &dyn HeapHost, module: &dyn HeapModule, sizes: &[u64]) -> Option<Addr> {
    let mut found = None;
    for range in module.data() {
        let _ = each_word(host.space(), range, &mut |_, value| {
            let at = Addr::new(value);
            if value.is_multiple_of(ALIGNMENT) && is_anonymous(host, at) {
                found = bytes_said(host.space(), at, sizes).map(|_| at);
            }
            if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if found.is_some() {
            break;
        }
    }
    found
}

fn threads(host: &dyn HeapHost) -> Vec<(u64, Tid)> {
    let of = |thread: Tid| Some((host.thread_pointer(thread)?.get(), thread));
    host.threads().into_iter().filter_map(of).collect()
}

fn tail(at: Addr, sizes: &[u64]) -> Addr {
    at.saturating_add((sizes.len() as u64).wrapping_mul(LIST))
}

/// The bytes that a cache says to have, if one lies at an address: its lists come to as much.
fn bytes_said(space: &dyn AddressSpace, at: Addr, sizes: &[u64]) -> Option<u64> {
    let tail = tail(at, sizes);
    let said = space.read_word(tail).ok()?;
    let limit = space.read_word(tail.checked_add(LIMIT)?).ok()?;
    if limit == 0 || limit > 1 << 32 {
        return None;
    }
    let mut bytes = 0_u64;
    for (class, size) in (0_u64..).zip(sizes) {
        let list = at.checked_add(class.checked_mul(LIST)?)?;
        let length = space.read_uint(list.checked_add(LENGTH)?, 4).ok()?;
        let is_empty = space.read_word(list).ok()? == 0;
        if is_empty != (length == 0) {
            return None;
        }
        bytes = bytes.checked_add(length.checked_mul(*size)?)?;
    }
    (bytes == said).then_some(said)
}

fn take(space: &dyn AddressSpace, at: Addr, sizes: &[u64], cache: u32, caches: &mut Caches) {
    for class in 1..u16::try_from(sizes.len()).unwrap_or(0) {
        let list = at.saturating_add(u64::from(class).wrapping_mul(LIST));
        let length = space.read_uint(list.saturating_add(LENGTH), 4).unwrap_or(0);
        let mut next = Addr::new(word(space, list));
        for _ in 0..length.min(MAX_LENGTH) {
            let Ok(link) = space.read_addr(next) else { break };
            if !caches.push(next, cache, class) {
                return;
            }
            next = link;
        }
    }
}
