//! Which object holds an address.

use kcore_mem::Addr;

use super::{
    Python,
    heap::{Heap, Object, STR, TYPE},
};
use crate::Host;

/// Objects begin at multiples of this, `ALIGNMENT` of `Objects/obmalloc.c`.
const ALIGNMENT: u64 = 16;
/// How far before an address its object is looked for, in bytes.
const MAX_BEFORE: u64 = 64 << 10;

/// An object, and where in it an address lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InteriorAddress {
    /// The object.
    pub object: Object,
    /// Bytes of it.
    pub size: u64,
    /// How far behind its beginning.
    pub offset: u64,
}

impl Python {
    /// The object that holds an address, of those that begin not too far before it.
    pub(super) fn held(&self, host: &dyn Host, at: Addr) -> Option<InteriorAddress> {
        let heap = self.heap(host);
        let first = at.get().checked_sub(at.get().checked_rem(ALIGNMENT)?)?;
        let starts = (0..=MAX_BEFORE).step_by(16).map_while(|before| first.checked_sub(before));
        { starts }.find_map(|start| {
            let object = heap.object(Addr::new(start))?;
            // What was freed has no references; what lies in its place is a link of a list.
            (heap.word(object.at, 0)? != 0).then_some(())?;
            let (size, offset) = (heap.whole_size(object)?, at.get().checked_sub(start)?);
            (offset < size).then_some(InteriorAddress { object, size, offset })
        })
    }
}

impl Heap<'_> {
    /// Bytes of an object with all that lies in one piece with it: the characters of a text, values of attributes.
    pub fn whole_size(&self, object: Object) -> Option<u64> {
        match () {
            () if object.is(STR) => self.text_size(object),
            // A type that Python made is bigger than its class says, by members that it has.
            () if object.is(TYPE) => self.size_of(object),
            () => self.size_of(object)?.checked_add(self.inline_size(object)),
        }
    }
}
