//! jemalloc 5.x, as a library and built into programs under any prefix.
//!
//! A radix tree leads from every page to the descriptor of its extent, and the descriptors tell all: which arena's it is,
//! its state, the size of its blocks, and which of them are free. So neither symbols nor the arenas' own structures are
//! needed. What threads cache counts as allocated there, and is taken off by their stacks.

mod cache;
mod check;
mod classes;
mod detect;
mod extent;
mod heap;
mod layout;
mod samples;
mod tree;
mod usage;

use crate::Allocator;

/// jemalloc.
pub(crate) const ALLOCATOR: Allocator = Allocator { name: NAME, detect: detect::detect };

/// Its name.
const NAME: &str = "jemalloc";
