//! Pointers that own what they point to.

use kcore_mem::Addr;

use crate::{Content, Object, Pointer, eval::Evaluator, object::dynamic_object};

/// Numbers beside a pointer.
pub type Counts = Vec<(&'static str, u64)>;

impl Evaluator<'_> {
    /// An owner of `target`, which is followed to the whole of what lies there.
    pub(super) fn owner(&mut self, target: &Object, counts: Counts) -> Option<Content> {
        let at = target.address()?;
        if at.get() == 0 {
            return Some(Content::Pointer(Pointer { counts, ..Pointer::to(Some(at)) }));
        }
        let mut pointer = self.pointer_to(at, Some(target));
        let whole = dynamic_object(target, self.process());
        pointer.pointee = self.followed(whole.as_ref().unwrap_or(target));
        Some(Content::Pointer(Pointer { counts, ..pointer }))
    }

    /// A pointer that owns nothing, or of whose target no type is known.
    pub(super) fn bare(&self, at: Addr, counts: Counts) -> Content {
        Content::Pointer(Pointer { counts, ..self.pointer_to(at, None) })
    }
}
