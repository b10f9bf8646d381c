//! The threads by AddressSanitizer's own numbers: 0 is the first one.
//!
//! `ThreadRegistry` of `sanitizer_thread_registry.h` has a vector of pointers to contexts; each says its own number.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Tid;

use crate::{
    HeapHost,
    module_words::{each_word, is_anonymous},
    words::Words,
};

const PAGE: u64 = 4096;
/// Offsets in `ThreadContextBase`, behind the pointer to its functions.
const NUMBER: u64 = 8;
const SYSTEM: u64 = 32;
/// Threads, at most (`kMaxNumberOfThreads` of `asan_thread.h`).
const MAX_THREADS: u64 = 1 << 22;

/// The threads that there were.
#[derive(Debug, Default)]
pub(super) struct Threads(Vec<Option<Tid>>);

impl Threads {
    /// Those of the vector among data most of whose contexts say the right numbers, one of which is of a thread of the
    /// process.
    pub(super) fn find(host: &dyn HeapHost, data: &[AddrRange]) -> Self {
        let mut words = Words::new(host.space());
        let mut found = None;
        for range in data {
            // It ends when they are found.
            let _ = each_word(host.space(), *range, &mut |at, value| {
                if value.is_multiple_of(PAGE) && is_anonymous(host, Addr::new(value)) {
                    found = load(host, &mut words, at.get(), value);
                }
                if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        Self(found.unwrap_or_default())
    }

    /// The thread of the process that has a number; `None` where that is not known.
    pub(super) fn tid(&self, number: u32) -> Option<Tid> {
        self.0.get(usize::try_from(number).ok()?).copied().flatten()
    }
}

/// The threads of the vector whose pointer stands at `at`: then its bytes and its length.
fn load(
    host: &dyn HeapHost,
    words: &mut Words<'_>,
    at: u64,
    first: u64,
) -> Option<Vec<Option<Tid>>> {
    let bytes = words.word(at.checked_add(8)?)?;
    let count = words.word(at.checked_add(16)?)?;
    let is_vector = bytes.is_multiple_of(PAGE)
        && count > 0
        && count <= MAX_THREADS
        && count.checked_mul(8)? <= bytes;
    if !is_vector {
        return None;
    }
    // Without the first one it is none, however long it says that it is.
    context(words, first, 0)?;
    let threads: Vec<_> =
        (0..count).map(|number| context(words, first.checked_add(number << 3)?, number)).collect();
    let right = threads.iter().flatten().count() as u64;
    let threads: Vec<Option<Tid>> = threads.into_iter().map(Option::flatten).collect();
    let there = host.threads();
    let is_it =
        right.saturating_mul(2) > count && threads.iter().flatten().any(|tid| there.contains(tid));
    is_it.then_some(threads)
}

/// The thread of a context, `Some(None)` of one whose number in the system is not known; `None` where it is no context.
fn context(words: &mut Words<'_>, slot: u64, number: u64) -> Option<Option<Tid>> {
    let at = words.word(slot)?;
    let own = words.half(at.checked_add(NUMBER)?)?;
    let system = words.word(at.checked_add(SYSTEM)?)?;
    let tid = u32::try_from(system).ok().filter(|tid| *tid != 0).map(Tid::new);
    (u64::from(own) == number).then_some(tid)
}
