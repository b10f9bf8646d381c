//! What object holds an address.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};

use super::{
    super::{Heap, V8},
    Memory, find,
    maps::Maps,
};
use crate::Host;

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
    /// The object that holds an address. Only its chunk is walked.
    pub fn holder(&self, host: &dyn Host, at: Addr) -> Option<Holder> {
        let heap = self.decodable(host)?;
        // Where every chunk is known, a look at it is enough.
        if self.known_census().is_some_and(|census| census.at_or_before(at).is_none()) {
            return None;
        }
        holder(&heap, at)
    }
}

fn holder(heap: &Heap<'_>, at: Addr) -> Option<Holder> {
    let chunk = find::chunk_at(heap, at)?;
    let held = find::held_memory(heap);
    let memory = Memory { heap: *heap, held: &held, mapped: &held, unused: &[] };
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
