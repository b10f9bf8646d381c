//! Heaps of native allocators: found in the memory of a process, and walked without running code.
//!
//! An [`Allocator`] looks for its heaps in a [`HeapHost`]. It may find several: a copy in each namespace of the dynamic
//! linker, one that a library brought along. Each is a [`NativeHeap`], or is [`Refused`] in words where its layout is not
//! known. [`ALLOCATORS`] lists them, and [`Heaps`] is what one process came to.
//!
//! A heap has five duties: *identity* (what it is, and how its layout was known), *usage* (totals, and the identities that
//! prove them), *walk* (all blocks), *block* (the one that holds an address), and *check* (what is torn). Those of samples
//! are for allocators that keep a profile.
//!
//! This room reads memory and symbols through the host, opens no file and formats nothing. An allocator is one folder
//! here and one line in [`ALLOCATORS`].

#![warn(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::arithmetic_side_effects
    )
)]

mod allocator;
mod asan;
mod block;
mod glibc;
mod google;
mod heaps;
mod history;
mod host;
mod jemalloc;
mod mimalloc;
mod module_words;
mod musl;
mod native_heap;
mod sample;
mod sink;
mod tcmalloc;
#[cfg(test)]
mod testing;
mod torn;
mod unread;
mod usage;
mod words;

pub use allocator::{ALLOCATORS, Allocator, Detected, HeapIdentity, Refused};
pub use block::{Block, BlockList, BlockState, BlockStates, ListId};
pub use heaps::{HeapNumber, Heaps};
pub use history::{BlockEvent, BlockEventKind};
pub use host::{HeapHost, HeapMapping, HeapModule};
pub use native_heap::NativeHeap;
pub use sample::{Sample, Samples};
pub use sink::{BlockFilter, BlockSink, Watch};
pub use torn::{Torn, TornKind};
pub use usage::{Amount, ArenaUsage, CacheUsage, Depth, Equality, OwnFigure, Usage};
