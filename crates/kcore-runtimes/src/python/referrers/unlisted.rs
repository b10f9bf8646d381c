//! Objects that refer to others and are in no list of the collector: dicts and tuples of nothing that is in one, and
//! code.

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::super::{
    Python,
    dict::Keys,
    heap::{DICT, Heap, Object, TUPLE},
};
use crate::Host;

/// Objects that are looked at, at most.
const MAX_OBJECTS: usize = 1 << 26;
/// A tuple of more items is in a list, since one of them is.
const MAX_ITEMS: u64 = 1 << 20;
/// Where the link to the next object of a list lies, before an object: 0 in one that is in none.
const LINK: i64 = -16;

/// Those that were met.
pub struct Unlisted<'a> {
    heap: Heap<'a>,
    code: Option<Addr>,
    /// Those that were not looked at yet, and all.
    left: Vec<Addr>,
    seen: FxHashSet<Addr>,
}

impl<'a> Unlisted<'a> {
    /// None yet. `code` is the class of code.
    pub fn new(heap: Heap<'a>, code: Option<Addr>) -> Self {
        Self { heap, code, left: Vec::new(), seen: FxHashSet::default() }
    }

    /// The next one to look at.
    pub fn pop(&mut self) -> Option<Addr> {
        self.left.pop()
    }

    /// Remembers what lies at an address, if it is one.
    pub fn meet(&mut self, at: Addr) {
        let may_be = at.get() != 0 && at.get().is_multiple_of(8) && self.seen.len() < MAX_OBJECTS;
        if may_be && !self.seen.contains(&at) && self.is_one(at) {
            self.seen.insert(at);
            self.left.push(at);
        }
    }

    /// Any word of an object is asked about, so that much is asked of it.
    fn is_one(&self, at: Addr) -> bool {
        let Some(object) = self.heap.object(at) else { return false };
        if Some(object.class) == self.code {
            return true;
        }
        let is_apart = || self.heap.word(at.wrapping_offset(LINK), 0) == Some(0);
        let is_used = || self.heap.word(at, 0).is_some_and(|references| references != 0);
        match () {
            () if object.is(TUPLE) => is_apart() && is_used() && self.is_tuple(object),
            () if object.is(DICT) => is_apart() && is_used() && self.is_dict(object),
            () => false,
        }
    }

    fn is_tuple(&self, object: Object) -> bool {
        let count = self.heap.size(object).filter(|count| (1..MAX_ITEMS).contains(count));
        let last = count.and_then(|count| self.heap.item(object, count.checked_sub(1)?));
        last.is_some() && self.heap.item(object, 0).is_some()
    }

    fn is_dict(&self, object: Object) -> bool {
        let keys = self.heap.pointer(object.at, 32).and_then(|keys| Keys::load(&self.heap, keys));
        keys.is_some()
    }
}

impl Python {
    /// The class of code: that of any that a frame runs.
    pub(super) fn code_class(&self, host: &dyn Host) -> Option<Addr> {
        let heap = self.heap(host);
        let chains = self.state(host).threads.iter().map(|thread| self.chain(&heap, thread));
        let groups = chains.flat_map(|chain| chain.groups);
        let mut codes = groups.flat_map(|group| group.frames).map(|frame| frame.code.at);
        codes.find_map(|at| heap.object(at)).map(|object| object.class)
    }
}
