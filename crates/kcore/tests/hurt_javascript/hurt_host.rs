//! A process of which some words of memory are other than they were.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
};

use kcore::{Addr, AddressSpace, Core};
use kcore_mem::{CodeAddr, Fault, Origin, Region, Svma, Target};
use kcore_runtimes::{Host, HostModule, HostRange};
use kcore_unwind::{Frame, Regs, Tid};

use crate::{random::Random, word::word};

/// Memory is hurt a page at a time.
const PAGE: u64 = 4096;

/// A core, some of whose pages are others, and the words of it that were read.
pub struct HurtHost<'a> {
    core: &'a Core,
    pages: BTreeMap<u64, Vec<u8>>,
    /// Where words were read, if that is to be remembered.
    read: Option<Mutex<BTreeSet<u64>>>,
}

impl<'a> HurtHost<'a> {
    /// The core as it is.
    pub const fn new(core: &'a Core) -> Self {
        Self { core, pages: BTreeMap::new(), read: None }
    }

    /// The core, hurt where `tender` says: words that become others, and pages that are lost, so many of each at
    /// most.
    pub fn hurt(
        core: &'a Core,
        tender: &[Addr],
        (words, pages): (usize, usize),
        random: &mut Random,
    ) -> Self {
        let mut host = Self::new(core);
        for _ in 0..random.below(pages) {
            host.lose(*random.of(tender));
        }
        for _ in 0..random.below(words) {
            let (at, from) = (*random.of(tender), *random.of(tender));
            let elsewhere = core.space().read_word(from).unwrap_or_default();
            let own = core.space().read_word(at).unwrap_or_default();
            host.set(at, word(own, elsewhere, random));
        }
        host
    }

    /// The core as it is, which remembers what is read of it.
    pub const fn recording(core: &'a Core) -> Self {
        Self { core, pages: BTreeMap::new(), read: Some(Mutex::new(BTreeSet::new())) }
    }

    /// Where words were read, the lowest first.
    pub fn words_read(&self) -> Vec<Addr> {
        let read = self.read.iter().map(|read| read.lock().expect("nobody panicked"));
        read.flat_map(|read| read.iter().copied().map(Addr::new).collect::<Vec<_>>()).collect()
    }

    /// Writes a word where there is memory.
    pub fn set(&mut self, at: Addr, word: u64) {
        let page = at.get() & !(PAGE - 1);
        let held = || self.core.space().read_held(Addr::new(page), PAGE);
        let bytes = self.pages.entry(page).or_insert_with(held);
        let into = (at.get() - page) as usize;
        if let Some(place) = bytes.get_mut(into..into + 8) {
            place.copy_from_slice(&word.to_le_bytes());
        }
    }

    /// Takes the page away that holds `at`.
    pub fn lose(&mut self, at: Addr) {
        self.pages.insert(at.get() & !(PAGE - 1), Vec::new());
    }
}

impl AddressSpace for HurtHost<'_> {
    fn target(&self) -> Target {
        self.core.space().target()
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        if let Some(read) = &self.read {
            read.lock().expect("nobody panicked").insert(at.get() & !7);
        }
        let page = at.get() & !(PAGE - 1);
        if let Some(bytes) = self.pages.get(&page) {
            let left = bytes.get((at.get() - page) as usize..).filter(|left| !left.is_empty());
            return left.ok_or(Fault::NotDumped(at));
        }
        let bytes = self.core.space().slice(at)?;
        let next = self.pages.range(page..).next().map_or(u64::MAX, |(next, _)| *next);
        let len = usize::try_from(next - at.get()).unwrap_or(usize::MAX);
        Ok(&bytes[..len.min(bytes.len())])
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.core.space().origin(at)
    }

    fn regions(&self) -> Vec<Region> {
        self.core.space().regions()
    }
}

impl Host for HurtHost<'_> {
    fn space(&self) -> &dyn AddressSpace {
        self
    }

    fn modules(&self) -> Vec<&dyn HostModule> {
        Host::modules(self.core)
    }

    fn module_at(&self, at: Addr) -> Option<&dyn HostModule> {
        Host::module_at(self.core, at)
    }

    fn range_at(&self, at: Addr) -> Option<HostRange> {
        Host::range_at(self.core, at)
    }

    fn ranges(&self) -> Vec<HostRange> {
        Host::ranges(self.core)
    }

    fn threads(&self) -> Vec<Tid> {
        Host::threads(self.core)
    }

    fn registers(&self, thread: Tid) -> Option<Regs> {
        Host::registers(self.core, thread)
    }

    fn thread_pointer(&self, thread: Tid) -> Option<Addr> {
        Host::thread_pointer(self.core, thread)
    }

    fn thread_local(&self, thread: Tid, module: &dyn HostModule, offset: Svma) -> Option<Addr> {
        Host::thread_local(self.core, thread, module, offset)
    }

    fn main_thread(&self) -> Option<Tid> {
        Host::main_thread(self.core)
    }

    fn thread_of_stack(&self, at: Addr) -> Option<Tid> {
        Host::thread_of_stack(self.core, at)
    }

    fn stack_pointer(&self, thread: Tid) -> Option<Addr> {
        Host::stack_pointer(self.core, thread)
    }

    fn frames(&self, thread: Tid) -> Vec<Frame> {
        Host::frames(self.core, thread)
    }

    fn function_at(&self, at: CodeAddr) -> Option<Arc<str>> {
        Host::function_at(self.core, at)
    }
}
