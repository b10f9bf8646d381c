//! Workers that have not ended.

use std::collections::HashSet;

use kcore_mem::Addr;

use super::{Awaited, NodeHandle, State, environment::Environments, is_oddball, symbol_property};
use crate::v8::{Heap, census::Census, heap::Object};

/// Under which a `Worker` has what C++ has of it, until it has ended.
const HANDLE: &str = "kHandle";
/// Words of an object of the embedder that may hold the object of C++.
const EMBEDDER_WORDS: u64 = 4;
/// Where those begin.
const EMBEDDER_FIELDS: u64 = 24;

/// The workers of all environments.
pub fn workers(
    heap: &Heap<'_>,
    census: &Census,
    environments: Option<&Environments<'_>>,
) -> Vec<NodeHandle> {
    let is_worker = |object: Object| {
        heap.is_receiver(object)
            && heap.constructor_name(object) == "Worker"
            && symbol_property(heap, object, HANDLE).is_some()
    };
    let maps: HashSet<u64> = census
        .maps()
        .iter()
        .filter(|map| is_worker(map.example()))
        .map(|map| map.map.get() | 1)
        .collect();
    let of_map = |at: &Addr| heap.word(*at, 0).is_some_and(|map| maps.contains(&map));
    let objects = census.objects().filter(of_map).filter_map(|at| heap.object_at(at));
    objects.filter_map(|object| worker(heap, object, environments)).collect()
}

fn worker(
    heap: &Heap<'_>,
    object: Object,
    environments: Option<&Environments<'_>>,
) -> Option<NodeHandle> {
    let handle = symbol_property(heap, object, HANDLE)?;
    (!is_oddball(heap, handle, "null") && !is_oddball(heap, handle, "undefined")).then_some(())?;
    let cpp = heap.object(handle)?;
    let number = heap.property(cpp, "threadId").and_then(|property| property.value.smi());
    let thread = environments.and_then(|all| all.thread(all.of_object(object)?));
    let at = environments.and_then(|all| object_of_cpp(heap, cpp, all.persistent()));
    let state = Some(State::Active);
    Some(NodeHandle {
        at,
        thread,
        state,
        ..NodeHandle::of_object(heap, Awaited::Worker(number), object)
    })
}

/// The object of C++ of an object of the embedder, which leads back.
fn object_of_cpp(heap: &Heap<'_>, object: Object, persistent: u64) -> Option<Addr> {
    (0..EMBEDDER_WORDS).find_map(|word| {
        let at = heap.word(object.at, word.checked_mul(8)?.checked_add(EMBEDDER_FIELDS)?)?;
        let at = Addr::new(at).filter_aligned()?;
        let handle = Addr::new(heap.word(at, persistent)?).filter_aligned()?;
        (heap.word(handle, 0)? == object.at.get() | 1).then_some(at)
    })
}

/// Pointers of C++ are aligned.
trait Aligned: Sized {
    fn filter_aligned(self) -> Option<Self>;
}

impl Aligned for Addr {
    fn filter_aligned(self) -> Option<Self> {
        (self.get() != 0 && self.get().is_multiple_of(8)).then_some(self)
    }
}
