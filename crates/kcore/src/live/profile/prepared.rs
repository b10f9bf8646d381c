//! What is there before the first sample, and holds for all of them.

use std::{sync::Arc, time::Instant};

use kcore_elf::{CoreSpace, core_file::MapLine};
use kcore_live::{
    Facts, LiveMemory, LivePages, Plan, Process, Snapshot, StackLimit, capture,
    image::{Headers, core_of},
};
use kcore_mem::AddrRange;

use super::super::{LiveOptions, LiveParts, files, mappings, parts::parts_of, rehearsal};
use crate::{Core, Mapping, OpenError, OpenOptions};

/// Pages that are read for a sample from the process while it runs on, at most.
const MAX_PAGES: usize = 4096;
/// Bytes of one stack, at most, when nobody says otherwise: a sample is to be short.
const STACK: u64 = 1 << 20;
/// Bytes of all stacks of a sample beyond their first parts.
const STACKS: u64 = 16 << 20;

/// What is there before the first sample.
pub struct Prepared<'a> {
    pub process: &'a Process,
    live: &'a LiveOptions,
    options: &'a OpenOptions,
    facts: Facts,
    memory: Arc<LiveMemory>,
    /// The process as it was then: its modules, its runtimes.
    base: Core,
    /// What runtimes need besides stacks.
    wanted: Vec<AddrRange>,
    maps: Maps,
}

/// The mappings at some time.
#[derive(Clone)]
pub struct Maps {
    pub text: Vec<u8>,
    pub lines: Vec<MapLine>,
    mappings: Vec<Mapping>,
    pub read: Instant,
}

impl Maps {
    fn of(text: Vec<u8>, lines: Vec<MapLine>, space: &CoreSpace) -> Self {
        let mappings = mappings::mappings(&lines, space);
        Self { text, lines, mappings, read: Instant::now() }
    }
}

impl<'a> Prepared<'a> {
    /// Looks at the process while it runs.
    ///
    /// # Errors
    /// When a right is missing.
    pub fn of(
        process: &'a Process,
        live: &'a LiveOptions,
        options: &'a OpenOptions,
    ) -> Result<Self, OpenError> {
        let memory = Arc::new(LiveMemory::open(process)?);
        let facts = Facts::read(process)?;
        let (text, lines) = process.maps()?;
        let headers = Headers::read(&memory, &lines);
        let pages = Arc::new(LivePages::new(memory.clone(), MAX_PAGES));
        let bytes = core_of(&facts, (&text, &lines), &headers, None);
        let finder = files::finder(process, &lines, live, options);
        let parts = parts_of(process, bytes, LiveParts::asking(pages.clone()))?;
        let maps = Maps::of(text, lines, &parts.space);
        let base = Core::of_parts(parts, finder, options);
        rehearsal::ask_process(&base);
        let wanted = pages.ranges();
        Ok(Self { process, live, options, facts, memory, base, wanted, maps })
    }

    /// The mappings as they were at first.
    pub fn maps(&self) -> Maps {
        self.maps.clone()
    }

    /// Reads the mappings anew, if they have changed.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn refresh(&self, maps: &mut Maps) -> Result<(), kcore_live::LiveError> {
        maps.read = Instant::now();
        let (text, lines) = self.process.maps()?;
        if text != maps.text
            && let Some(parts) = &self.base.parts
        {
            *maps = Maps::of(text, lines, &parts.space);
        }
        Ok(())
    }

    /// Whether runtimes are in it, whose frames lie in its heap.
    pub fn has_runtimes(&self) -> bool {
        !self.base.runtimes().is_empty()
    }

    /// Copies the stacks of these threads.
    ///
    /// # Errors
    /// When none of them is there any more.
    pub fn capture(&self, maps: &Maps, tids: &[i32]) -> Result<Snapshot, kcore_live::LiveError> {
        let each = self.live.stack_size.unwrap_or(STACK);
        capture(&Plan {
            process: self.process,
            memory: &self.memory,
            maps: &maps.lines,
            threads: Some(tids),
            memory_too: if self.has_runtimes() { &self.wanted } else { &[] },
            follow: self.has_runtimes(),
            stacks: StackLimit { each, together: STACKS },
            floating_up_to: 0,
            timeout: self.live.stop_timeout,
            copy_timeout: self.live.stop_timeout,
            rolling: self.live.rolling,
        })
    }

    /// The bytes of a range, while the process runs.
    pub fn read(&self, range: AddrRange) -> Option<Vec<u8>> {
        self.memory.read(range)
    }

    /// A sample as a core: what is not in it and a runtime needs is read from the process as it runs
    /// on.
    ///
    /// # Errors
    /// When the process has ended.
    pub fn core(&self, maps: &Maps, snapshot: &Snapshot) -> Result<Core, OpenError> {
        let pages = || Arc::new(LivePages::new(self.memory.clone(), MAX_PAGES));
        let pages = self.has_runtimes().then(pages);
        let bytes = core_of(&self.facts, (b"", &[]), &Headers::default(), Some(snapshot));
        let parts = parts_of(self.process, bytes, LiveParts { pages, ..LiveParts::default() })?;
        Ok(self.base.later(parts, maps.mappings.clone(), self.options))
    }
}
