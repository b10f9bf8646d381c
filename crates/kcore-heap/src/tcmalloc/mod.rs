//! tcmalloc of gperftools, full and minimal, as a library and built into programs.
//!
//! A map leads from pages to spans, which hold one large block or many of one size. A span counts those that it handed out
//! and has a list of the others; what caches of threads and transfer caches hold counts as handed out there. From `span.h`,
//! `pagemap.h`, `thread_cache.h` and `central_freelist.h` of gperftools 2.10.

mod cache;
mod central;
mod check;
mod detect;
mod heap;
mod map;
mod samples;
mod span;
mod usage;

use crate::Allocator;

/// tcmalloc of gperftools.
pub(crate) const ALLOCATOR: Allocator = Allocator { name: NAME, detect: detect::detect };

/// Its name.
const NAME: &str = "tcmalloc";
