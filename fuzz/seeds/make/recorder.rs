//! A process that remembers what is read of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
};

use kcore::{Addr, AddressSpace, Core};
use kcore_fuzz::memory::Memory;
use kcore_mem::{Fault, Origin, Region, Target};
use kcore_runtimes::{Host, HostModule, HostRange};
use kcore_unwind::{Regs, Tid};

/// Reads that lie nearer to each other than this become one part.
const GAP: u64 = 32;
/// What is remembered where nobody says how much is wanted.
const UNSAID: u64 = 16;
/// Chunks of a heap begin at multiples of this, and are described in so many bytes.
const CHUNK: u64 = 1 << 18;
const DESCRIPTION: u64 = 96;
/// Bytes of one read that are remembered, at most.
const LONGEST: u64 = 1024;

/// A core, and what was read of its memory.
pub struct Recorder<'a>(Recorded<'a>);

struct Recorded<'a> {
    core: &'a Core,
    /// Starts and lengths.
    reads: Mutex<BTreeMap<u64, u64>>,
}

impl<'a> Recorder<'a> {
    /// Nothing was read yet.
    pub const fn new(core: &'a Core) -> Self {
        Self(Recorded { core, reads: Mutex::new(BTreeMap::new()) })
    }

    /// What was read, and what describes the chunks of the heap that it lies in, as memory.
    pub fn memory(&self) -> Memory {
        self.remember_chunks();
        let reads = self.0.reads.lock().expect("nobody panicked");
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for (start, len) in reads.iter() {
            match parts.last_mut() {
                Some((_, end)) if *start <= *end + GAP => *end = (*end).max(start + len),
                _ => parts.push((*start, start + len)),
            }
        }
        let held = |start, end| self.0.core.space().read_held(Addr::new(start), end - start);
        Memory(parts.into_iter().map(|(start, end)| (start, held(start, end))).collect())
    }
}

impl Recorder<'_> {
    /// A chunk begins with what describes it, or with where that is.
    fn remember_chunks(&self) {
        let reads = self.0.reads.lock().expect("nobody panicked").clone();
        let chunks: BTreeSet<u64> = reads.keys().map(|at| at & !(CHUNK - 1)).collect();
        for chunk in chunks {
            self.0.remember(Addr::new(chunk), DESCRIPTION);
            let metadata = self.0.core.space().read_addr(Addr::new(chunk + 8));
            let metadata = metadata.ok().filter(|at| at.get().is_multiple_of(8));
            metadata.into_iter().for_each(|at| self.0.remember(at, DESCRIPTION));
        }
    }
}

impl Recorded<'_> {
    /// Remembers a read of what is there.
    fn remember(&self, at: Addr, len: u64) {
        if self.core.space().slice(at).is_err() {
            return;
        }
        let mut reads = self.reads.lock().expect("nobody panicked");
        let longest = reads.entry(at.get()).or_default();
        *longest = (*longest).max(len.min(LONGEST));
    }
}

impl AddressSpace for Recorded<'_> {
    fn target(&self) -> Target {
        self.core.space().target()
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        self.remember(at, UNSAID);
        self.core.space().slice(at)
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.core.space().origin(at)
    }

    fn regions(&self) -> Vec<Region> {
        self.core.space().regions()
    }

    fn read_partial(&self, at: Addr, buf: &mut [u8]) -> (usize, Option<Fault>) {
        self.remember(at, buf.len() as u64);
        self.core.space().read_partial(at, buf)
    }

    fn read_held(&self, at: Addr, len: u64) -> Vec<u8> {
        self.remember(at, len);
        self.core.space().read_held(at, len)
    }

    fn read_word(&self, at: Addr) -> Result<u64, Fault> {
        self.remember(at, 8);
        self.core.space().read_word(at)
    }
}

impl Host for Recorder<'_> {
    fn space(&self) -> &dyn AddressSpace {
        &self.0
    }

    fn modules(&self) -> Vec<&dyn HostModule> {
        Host::modules(self.0.core)
    }

    fn module_at(&self, at: Addr) -> Option<&dyn HostModule> {
        Host::module_at(self.0.core, at)
    }

    fn range_at(&self, at: Addr) -> Option<HostRange> {
        Host::range_at(self.0.core, at)
    }

    fn ranges(&self) -> Vec<HostRange> {
        Host::ranges(self.0.core)
    }

    fn threads(&self) -> Vec<Tid> {
        Host::threads(self.0.core)
    }

    fn thread_pointer(&self, thread: Tid) -> Option<Addr> {
        Host::thread_pointer(self.0.core, thread)
    }

    fn registers(&self, thread: Tid) -> Option<Regs> {
        Host::registers(self.0.core, thread)
    }
}
