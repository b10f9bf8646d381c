//! The allocators that kcore knows, and how they are found.

use std::sync::Arc;

use kcore_mem::AddrRange;

use crate::{
    HeapHost, NativeHeap, asan, glibc, google, jemalloc, mimalloc, musl, tcmalloc, unread,
};

/// Looks for the heaps of one allocator in a process.
#[derive(Clone, Copy)]
pub struct Allocator {
    /// Its name, as users type it: `glibc`, `jemalloc`.
    pub name: &'static str,
    /// Every heap of it that the process holds, or why one that is there cannot be read; none where the allocator is
    /// absent. Looks at the writable segments of modules at most, and at mappings by their alignment.
    pub detect: fn(&dyn HeapHost) -> Vec<Detected>,
}

/// A heap that is there: one that can be read, or one that cannot.
pub type Detected = Result<Box<dyn NativeHeap>, Refused>;

/// The allocators that kcore knows. Where two say that a block is theirs, the later one here lies in the former's memory.
pub const ALLOCATORS: &[Allocator] = &[
    glibc::ALLOCATOR,
    musl::ALLOCATOR,
    jemalloc::ALLOCATOR,
    mimalloc::ALLOCATOR,
    tcmalloc::ALLOCATOR,
    google::ALLOCATOR,
    asan::ALLOCATOR,
    unread::ALLOCATOR,
];

/// What a heap is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeapIdentity {
    /// The allocator's name: `glibc`.
    pub allocator: &'static str,
    /// Its version, as it says itself, or as its structures prove it: `2.36`, `2.35 to 2.41`. `None` where neither tells.
    pub version: Option<Arc<str>>,
    /// Which one it is, where a process may hold several: the module whose data it is.
    pub instance: Arc<str>,
    /// How its layout was known: `symbols and debug information of libc.so.6`, `table for 2.35 to 2.41, found by search`.
    pub layout: Arc<str>,
    /// What is not known of it, and why, in words for people: `thread caches: the thread pointers are not known`.
    pub unknown: Vec<Arc<str>>,
}

/// A heap that is there and cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The allocator's name.
    pub allocator: &'static str,
    /// Its version, as far as it is known.
    pub version: Option<Arc<str>>,
    /// Which one it is: the module.
    pub instance: Arc<str>,
    /// Why it cannot be read, in words for people.
    pub why: Arc<str>,
    /// The memory that is its own, as far as that is known.
    pub ranges: Vec<AddrRange>,
}
