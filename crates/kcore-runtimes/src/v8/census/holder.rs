//! What object holds an address.

use std::{slice, sync::Arc};

use kcore_mem::{Addr, AddrRange};

use super::{
    super::{Heap, V8},
    Chunk, Memory, find, lab,
    maps::Maps,
};
use crate::Host;

/// What lies at an address of a heap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeapOccupant {
    /// An object.
    Object(Holder),
    /// What a thread was about to allocate from: what lies there is left of what died.
    Unused(AddrRange),
}

/// An object around an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Where it begins, without tag.
    pub at: Addr,
    /// Its size in bytes.
    pub size: u64,
    /// What it is counted as: its constructor, or in parentheses what V8 uses it for.
    pub class: Arc<str>,
    /// How far the address lies in it.
    pub offset: u64,
}

impl V8 {
    /// What holds an address of a heap. Only its chunk is walked.
    pub fn place(&self, host: &dyn Host, at: Addr) -> Option<HeapOccupant> {
        let heap = self.decodable(host).filter(|heap| heap.layout.has_known_pages())?;
        // Where every chunk is known, a look at it is enough.
        if self.known_census().is_some_and(|census| census.at_or_before(at).is_none()) {
            return None;
        }
        self.owns_object(host, at).then_some(())?;
        let chunk = find::chunk_at(&heap, at)?;
        let unused = lab::unused(&heap, slice::from_ref(&chunk), &[]);
        let about = unused.iter().find(|range| range.contains(at));
        about
            .copied()
            .map(HeapOccupant::Unused)
            .or_else(|| holder(host, &heap, chunk, &unused, at).map(HeapOccupant::Object))
    }

    /// The object that holds an address.
    pub fn holder(&self, host: &dyn Host, at: Addr) -> Option<Holder> {
        match self.place(host, at)? {
            HeapOccupant::Object(holder) => Some(holder),
            HeapOccupant::Unused(_) => None,
        }
    }
}

fn holder(
    host: &dyn Host,
    heap: &Heap<'_>,
    chunk: Chunk,
    unused: &[AddrRange],
    at: Addr,
) -> Option<Holder> {
    let held = find::held_memory(host);
    let memory = Memory { heap: *heap, held: &held, mapped: &held, unused };
    let mut maps = Maps::new(*heap);
    let area = memory.walk_chunk(&mut maps, chunk);
    let start = area.starts.at_or_before(at)?;
    let map = maps.find(heap.word(start, 0)?)?;
    let step = super::walk::Walk::new(*heap, &mut maps).size(start, chunk.area.end)?;
    let range = AddrRange::with_len(start, step);
    let offset = at.offset_from(start).filter(|_| range.contains(at))?;
    let count = maps.into_counts().get(map as usize).copied()?;
    let class = heap.census_class(&count).into();
    Some(Holder { at: start, size: step, class, offset })
}
