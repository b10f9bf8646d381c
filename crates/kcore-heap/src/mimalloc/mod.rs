//! mimalloc 2.x and 3.x, as a library and built into programs, also in its secure mode.
//!
//! Blocks of one size lie in pages, whose descriptors count them and hold three lists of free ones. Descriptors lie in the
//! headers of segments (2.x), or are led to by a map of all pages (3.x). Neither symbols nor the heaps' own structures are
//! needed: count and lists prove each other.

mod check;
mod detect;
mod heap;
mod layout;
mod lists;
mod map;
mod page;
mod segments;
#[cfg(test)]
mod tests;
mod usage;

use crate::Allocator;

/// mimalloc.
pub(crate) const ALLOCATOR: Allocator = Allocator { name: NAME, detect: detect::detect };

/// Its name.
const NAME: &str = "mimalloc";
