//! musl's mallocng, 1.2.1 and later, as a library and built into static programs.
//!
//! Blocks of one size are slots of a group; a bit mask of the group's `meta` says which are free. Metas lie in pages of
//! their own, each of which begins with a secret of the process, so that the pages prove themselves. Layouts are those of
//! `src/malloc/mallocng/meta.h` of 1.2.1 to 1.2.5.

mod check;
mod context;
mod detect;
mod group;
mod heap;
mod slot;
#[cfg(test)]
mod tests;

use crate::Allocator;

/// musl's mallocng.
pub(crate) const ALLOCATOR: Allocator = Allocator { name: NAME, detect: detect::detect };

/// Its name.
const NAME: &str = "musl";
