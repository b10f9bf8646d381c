//! What the runtime remembers of objects: finalizers (`runtime/mheap.go`, `runtime.special`).

use kcore_mem::{Addr, AddressSpace};

use super::{Heap, span::Span};

/// Kinds.
const FINALIZER: u64 = 1;
/// Entries of one span, at most.
const MAX_SPECIALS: usize = 1 << 20;

/// A finalizer: the object it is for, the address of the word that holds its function, and that function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finalizer {
    /// Where the object begins.
    pub object: Addr,
    /// Where the word lies that refers to the function.
    pub at: Addr,
    /// What is called with the object.
    pub function: Addr,
}

impl Heap {
    /// The finalizers of the objects of a span.
    pub(super) fn finalizers(&self, space: &dyn AddressSpace, span: &Span) -> Vec<Finalizer> {
        let (mut found, mut next) = (Vec::new(), span.specials(space, &self.layout));
        let (offset, size, kind) = self.layout.special;
        // The function lies behind what all of them have, which is a multiple of words.
        let function = kind.saturating_add(8) & !7;
        for _ in 0..MAX_SPECIALS {
            let Some(at) = next else { break };
            let field =
                |behind: u64, size: usize| space.read_uint(at.checked_add(behind)?, size).ok();
            let finalizer = || {
                (field(kind, 1)? == FINALIZER).then_some(())?;
                let object = span.pages.start.checked_add(field(offset, size)?)?;
                let index = span.index_of(object)?;
                let word = at.checked_add(function)?;
                let function = space.read_addr(word).ok()?;
                Some(Finalizer { object: span.slot_at(index), at: word, function })
            };
            found.extend(finalizer());
            next = space.read_addr(at).ok().filter(|next| next.get() != 0 && *next != at);
        }
        found
    }
}
