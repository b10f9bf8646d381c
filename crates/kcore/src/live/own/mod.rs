//! The process that runs this: what its threads tell of themselves becomes a core like any other.
//!
//! Nothing here stops a thread or touches a signal. Memory is read by the system, which answers a bad
//! address with an error.

mod profile;
mod space;
mod tables;
mod threads;

use std::sync::Arc;

use kcore_elf::{
    core_file::{MapLine, parse_maps},
    leave_signal_alone,
};
use kcore_live::{
    Facts, LiveError, LiveMemory, LivePages, Process, Snapshot,
    image::{Headers, core_of},
};
use kcore_mem::Target;
use kcore_unwind::{Machine, machine};

use super::{LiveOptions, files, parts::parts_of};
use crate::{
    Core, OpenError, OpenOptions, Tid, by_file::SymbolsByFile, open::CoreParts, snapshot::LiveParts,
};
pub use profile::CountedStack;
use tables::CopiedCfi;
pub use threads::OwnThread;
use threads::WalkedStack;

/// Pages that are read of the process while it runs on, for one core, at most: 64 MiB.
const MAX_PAGES: usize = 16 << 10;

/// The process that runs this.
pub struct OwnProcess {
    process: Process,
    memory: Arc<LiveMemory>,
    /// Unwind information that was copied, for as long as its modules are mapped.
    copied: CopiedCfi,
    /// Symbols that were loaded, for the next core.
    symbols: Arc<SymbolsByFile>,
}

impl OwnProcess {
    /// Looks at the process. Handlers of signals are left alone from then on, also of those that kcore
    /// otherwise takes for itself.
    ///
    /// # Errors
    /// When the system does not tell of it: there is no `/proc`.
    pub fn open() -> Result<Self, LiveError> {
        leave_signal_alone();
        let process = Process::own()?;
        let memory = Arc::new(LiveMemory::own());
        let (copied, symbols) = (CopiedCfi::default(), Arc::default());
        Ok(Self { process, memory, copied, symbols })
    }

    /// Architecture, word size and byte order.
    pub const fn target(&self) -> Target {
        self.process.target()
    }

    /// Its machine; `None` where the walker does not know it.
    pub fn machine(&self) -> Option<Box<dyn Machine>> {
        machine(self.process.target(), None)
    }

    /// A core of these threads as they told of themselves. What else is asked for is read while the process
    /// runs on.
    ///
    /// # Errors
    /// When the system does not tell of the process.
    pub fn core(&self, threads: Vec<OwnThread>, options: &OpenOptions) -> Result<Core, OpenError> {
        let (text, maps) = self.process.maps()?;
        let pages = self.pages();
        let machine = self.machine();
        let told: Vec<_> = threads
            .into_iter()
            .map(|thread| thread.as_told(&self.process, machine.as_deref(), &pages))
            .collect();
        let walked = told.iter().filter_map(|(thread, walked)| {
            let tid = u32::try_from(thread.tid).ok()?;
            Some((Tid::new(tid), walked.clone()))
        });
        let walked: Vec<(Tid, WalkedStack)> = walked.collect();
        let snapshot = Snapshot::of_threads(told.into_iter().map(|(thread, _)| thread).collect());
        let parts = self.parts((&text, &maps), &snapshot, pages)?;
        let finder = files::finder(&self.process, &maps, &LiveOptions::default(), options);
        let mut core = Core::of_parts_sharing(parts, finder, options, self.symbols.clone());
        let walked = walked.into_iter().map(|(tid, stack)| (tid, stack.asked(&core, tid)));
        core.walked = walked.collect();
        Ok(core)
    }

    fn parts(
        &self,
        (text, maps): (&[u8], &[MapLine]),
        snapshot: &Snapshot,
        pages: Arc<LivePages>,
    ) -> Result<CoreParts, OpenError> {
        let facts = Facts::read(&self.process)?;
        let headers = Headers::read(&self.memory, maps);
        let bytes = core_of(&facts, (text, maps), &headers, Some(snapshot));
        let live = LiveParts { reads_later: true, ..LiveParts::asking(pages) };
        parts_of(&self.process, bytes, live)
    }

    fn pages(&self) -> Arc<LivePages> {
        Arc::new(LivePages::new(self.memory.clone(), MAX_PAGES))
    }

    /// Its mappings.
    fn maps(&self) -> Result<Vec<MapLine>, LiveError> {
        self.process.read("maps", "its mappings").map(|text| parse_maps(&text))
    }
}
