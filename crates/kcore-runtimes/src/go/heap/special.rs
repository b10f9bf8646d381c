//! What the runtime is to do when objects are gone: finalizers and cleanups (`runtime/mheap.go`, `runtime.special`,
//! `runtime.specialfinalizer`, `runtime.specialCleanup`; `runtime/mcleanup.go`, `runtime.cleanupFn`).

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, CodeAddr};

use super::{Heap, span::Span};
use crate::{Host, go::Go};

/// Entries of one span, and of all that are told, at most.
const MAX_SPECIALS: usize = 1 << 20;
/// Numbers of kinds: that of finalizers, also since Go 1.25, and that of cleanups since 1.24, also since 1.25.
const FINALIZER: [u64; 2] = [1, 2];
const CLEANUP: [u64; 2] = [6, 7];
/// Since when there are cleanups, since when the numbers are larger by one, and since when the function of a cleanup has
/// one before it that knows how to call it.
const CLEANUPS_SINCE: u8 = 24;
const RENUMBERED: u8 = 25;
const ADAPTED: u8 = 26;

/// What is to be done when an object is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Special {
    /// Whether it is a finalizer, which gets the object, or a cleanup.
    pub kind: SpecialKind,
    /// Where the object begins.
    pub object: Addr,
    /// Where the word lies that refers to the function.
    pub at: Addr,
    /// What is called: a `runtime.funcval`.
    pub function: Addr,
}

/// A kind of what is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialKind {
    /// `runtime.SetFinalizer`: it is called with the object.
    Finalizer,
    /// `runtime.AddCleanup`.
    Cleanup,
}

impl SpecialKind {
    /// A word for machines.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Finalizer => "finalizer",
            Self::Cleanup => "cleanup",
        }
    }

    /// What a number says in a minor version; `None` of what calls nothing.
    fn of(minor: u8, number: u64) -> Option<Self> {
        let index = usize::from(minor >= RENUMBERED);
        if FINALIZER.get(index) == Some(&number) {
            return Some(Self::Finalizer);
        }
        let is_cleanup = minor >= CLEANUPS_SINCE && CLEANUP.get(index) == Some(&number);
        is_cleanup.then_some(Self::Cleanup)
    }

    /// Words between what all entries have and the function.
    const fn before_function(self, minor: u8) -> u64 {
        match self {
            Self::Cleanup if minor >= ADAPTED => 8,
            _ => 0,
        }
    }
}

/// What is to be done when an object is gone, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoSpecial {
    /// What the heap has.
    pub special: Special,
    /// The type of the object, if it is known.
    pub ty: Option<Arc<str>>,
    /// The name of the function, if it is known.
    pub function: Option<Arc<str>>,
}

impl Heap {
    /// What is to be done when objects of a span are gone, by the numbers of a minor version.
    pub(super) fn specials(
        &self,
        space: &dyn AddressSpace,
        minor: u8,
        span: &Span,
    ) -> Vec<Special> {
        let (mut found, mut next) = (Vec::new(), span.specials(space, &self.layout));
        for _ in 0..MAX_SPECIALS {
            let Some(at) = next else { break };
            found.extend(self.special(space, minor, span, at));
            next = space.read_addr(at).ok().filter(|next| next.get() != 0 && *next != at);
        }
        found
    }

    fn special(
        &self,
        space: &dyn AddressSpace,
        minor: u8,
        span: &Span,
        at: Addr,
    ) -> Option<Special> {
        let (offset, size, kind_at) = self.layout.special;
        let field = |behind: u64, size: usize| space.read_uint(at.checked_add(behind)?, size).ok();
        let kind = SpecialKind::of(minor, field(kind_at, 1)?)?;
        let object = span.pages.start.checked_add(field(offset, size)?)?;
        let object = span.slot_at(span.index_of(object)?);
        // The function lies behind what all of them have, which is a multiple of words.
        let common = kind_at.saturating_add(8) & !7;
        let at = at.checked_add(common)?.checked_add(kind.before_function(minor))?;
        Some(Special { kind, object, at, function: space.read_addr(at).ok()? })
    }
}

impl Go {
    /// What is to be done when objects of its heap are gone, in the order in which they lie, at most 1,048,576.
    ///
    /// # Errors
    /// In words, where the heap is not found or cannot be read.
    pub fn specials(&self, host: &dyn Host) -> Result<Vec<GoSpecial>, &str> {
        let heap = self.heap(host)?;
        let mut found = Vec::new();
        for span in &heap.spans {
            if found.len() >= MAX_SPECIALS || host.budget().is_some_and(|it| it.is_halted()) {
                break;
            }
            let all = heap.specials(host.space(), self.layout.minor, span);
            found.extend(all.into_iter().map(|special| self.told(host, special)));
        }
        Ok(found)
    }

    /// The function of the program: before Go 1.26, that of a cleanup is what another one holds on to first, which the
    /// runtime makes around it. Go 1.25 has a variable of it there.
    fn called(&self, host: &dyn Host, special: Special) -> Addr {
        let is_around = self.layout.minor < ADAPTED && special.kind == SpecialKind::Cleanup;
        let read = |at: Addr| host.space().read_addr(at).ok();
        let held = special.function.checked_add(8).filter(|_| is_around).and_then(read);
        let both = [held, held.and_then(read)];
        let function = both.into_iter().flatten().find(|at| self.begins_function(host, *at));
        function.unwrap_or(special.function)
    }

    /// Whether the `runtime.funcval` at an address, if one lies there, has the beginning of a function.
    fn begins_function(&self, host: &dyn Host, at: Addr) -> bool {
        let code = host.space().read_addr(at).ok();
        let place = code.and_then(|code| self.place(host, CodeAddr::Pc(code)));
        place.is_some_and(|place| Some(place.function.code.start) == code)
    }

    fn told(&self, host: &dyn Host, special: Special) -> GoSpecial {
        let ty = self.type_name_of(host, special.object);
        let function = self.function_of(host, self.called(host, special));
        GoSpecial { special, ty, function }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_by_the_version() {
        let finalizers = [19, 24, 25, 27].map(|minor| SpecialKind::of(minor, 1).is_some());
        assert_eq!(finalizers, [true, true, false, false], "a block of small values since 1.25");
        let cleanups =
            [(23, 6), (24, 6), (25, 7), (27, 7)].map(|(minor, it)| SpecialKind::of(minor, it));
        let cleanup = Some(SpecialKind::Cleanup);
        assert_eq!(cleanups, [None, cleanup, cleanup, cleanup]);
    }
}
