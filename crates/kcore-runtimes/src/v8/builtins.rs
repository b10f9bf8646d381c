//! Where the machine code lies that V8 was built with, in a module without names.
//!
//! V8 maps those pages of its file a second time, into the memory that it makes code in, to call them by short jumps
//! (`Isolate::MaybeRemapEmbeddedBuiltinsIntoCodeRange`, V8 9.4 to 15.0). Such a mapping says which part of the file they are.

use kcore_mem::{Addr, AddrRange};

use crate::{Host, HostModule};

/// Unwind information for C++.
const UNWIND: &str = ".eh_frame";

/// Code of V8's own within a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Builtins {
    /// It may be all of the module: what has unwind information is C++, and asked for it first.
    Anywhere,
    /// It lies in these ranges, and nowhere else in the module.
    In(Vec<AddrRange>),
}

impl Builtins {
    /// Those of a module that exports nothing.
    pub fn find(host: &dyn Host, module: &dyn HostModule) -> Self {
        let has_unwind = module.image().is_some_and(|image| image.section(UNWIND).is_some());
        if has_unwind {
            return Self::Anywhere;
        }
        let is_copy = |other: &&dyn HostModule| {
            other.name() == module.name() && other.span() != module.span()
        };
        let copies = host.modules().into_iter().filter(is_copy);
        Self::In(copies.flat_map(|copy| both(module, copy)).collect())
    }

    /// Whether code at an address of the module is V8's.
    pub fn hold(&self, at: Addr) -> bool {
        match self {
            Self::Anywhere => true,
            Self::In(ranges) => ranges.iter().any(|range| range.contains(at)),
        }
    }
}

/// A copy of some code of a module, and that code itself.
fn both(module: &dyn HostModule, copy: &dyn HostModule) -> impl Iterator<Item = AddrRange> {
    let span = copy.span();
    let original = copy.svma(span.start).and_then(|svma| module.addr(svma));
    let original = original.map(|start| AddrRange::with_len(start, span.len()));
    [Some(span), original].into_iter().flatten()
}
