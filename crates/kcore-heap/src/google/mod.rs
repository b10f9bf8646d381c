//! Google's tcmalloc (github.com/google/tcmalloc), built into programs, with caches of processors or of threads.
//!
//! A map leads from pages to spans, which hold one large block or many of one size class. A span counts the blocks that it
//! handed out, and has the others in a bitmap or a list; what caches of processors and threads and transfer caches hold
//! counts as handed out there. It is another allocator than that of gperftools, of which nothing but the ideas is left.
//! From `pagemap.h`, `span.h`, `sizemap.h`, `internal/percpu_tcmalloc.h`, `thread_cache.h`, `transfer_cache_internals.h`,
//! `central_freelist.h` and `metadata_object_allocator.h` of June 2025.

mod cache;
mod check;
mod classes;
mod descriptors;
mod detect;
mod heap;
mod layout;
mod map;
mod objects;
mod processors;
mod samples;
mod span;
#[cfg(test)]
mod tests;
mod threads;
mod transfer;
mod usage;

use crate::Allocator;

/// Google's tcmalloc.
pub(crate) const ALLOCATOR: Allocator = Allocator { name: NAME, detect: detect::detect };

/// Its name: `tcmalloc` alone is that of gperftools.
const NAME: &str = "Google's tcmalloc";
