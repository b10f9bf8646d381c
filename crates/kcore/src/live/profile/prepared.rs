//! What is there before the first sample, and holds for all of them.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Instant,
};

use kcore_elf::{CoreSpace, core_file::MapLine};
use kcore_live::{
    Facts, LiveError, LiveMemory, LivePages, Plan, Process, Snapshot, StackLimit, capture,
    image::{Headers, core_of},
};
use kcore_mem::AddrRange;

use super::super::{LiveOptions, ThreadChoice, files, parts::parts_of, rehearsal};
use crate::{
    Core, Mapping, OpenError, OpenOptions, Tid,
    by_file::SymbolsByFile,
    snapshot::{LaterMemory, LiveParts, mappings},
};

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
    /// Its auxiliary vector, which every program that it starts has anew.
    auxv: Vec<u8>,
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
        let mappings = mappings(&lines, space);
        Self { text, lines, mappings, read: Instant::now() }
    }
}

impl<'a> Prepared<'a> {
    /// Looks at the process while it runs; `symbols` are those that were loaded before.
    ///
    /// # Errors
    /// When a right is missing.
    pub fn of(
        process: &'a Process,
        live: &'a LiveOptions,
        options: &'a OpenOptions,
        symbols: Arc<SymbolsByFile>,
    ) -> Result<Self, OpenError> {
        let memory = Arc::new(LiveMemory::open(process)?);
        let auxv = auxv_of(process)?;
        let facts = Facts::read(process)?;
        let (text, lines) = process.maps()?;
        let headers = Headers::read(&memory, &lines);
        let pages = Arc::new(LivePages::new(memory.clone(), MAX_PAGES));
        let bytes = core_of(&facts, (&text, &lines), &headers, None);
        let finder = files::finder(process, &lines, live, options);
        let parts = parts_of(process, bytes, LiveParts::asking(pages.clone()))?;
        let maps = Maps::of(text, lines, &parts.space);
        let base = Core::of_parts_sharing(parts, finder, options, symbols);
        rehearsal::ask_process(&base);
        // Asked for what it reads: samples copy the pages where runtimes keep what changes with every call.
        base.thread_facts(Tid::new(u32::try_from(process.pid().get()).unwrap_or_default()));
        let wanted = pages.ranges();
        Ok(Self { process, live, options, facts, auxv, memory, base, wanted, maps })
    }

    /// The mappings as they were at first.
    pub fn maps(&self) -> Maps {
        self.maps.clone()
    }

    /// Whether the process still runs the program that it was looked at with, and its memory is found as it was
    /// then.
    pub fn is_current(&self) -> bool {
        let first = self.maps.lines.first();
        let has_memory = first.is_none_or(|map| self.memory.is_there(map.range.start));
        has_memory && auxv_of(self.process).is_ok_and(|auxv| auxv == self.auxv)
    }

    /// Whether it is the program that has this auxiliary vector.
    pub fn has_auxv(&self, auxv: &[u8]) -> bool {
        self.auxv == auxv
    }

    /// The auxiliary vector of the program.
    pub fn auxv(&self) -> &[u8] {
        &self.auxv
    }

    /// The chosen threads that are there now, without a first one that has ended. There may be none in the chosen states.
    ///
    /// # Errors
    /// When the process has ended, or has none of the threads that were chosen by their ids.
    pub fn threads(&self, choice: &ThreadChoice) -> Result<Vec<i32>, LiveError> {
        let chosen = match (choice.ids(self.process), choice) {
            (Err(LiveError::NoThread { .. }), ThreadChoice::States(_)) => Vec::new(),
            (chosen, _) => chosen?.map_or_else(|| self.process.task_ids(), Ok)?,
        };
        let first = self.process.pid().get();
        let has_ended = chosen.contains(&first) && self.process.first_has_ended();
        let living: Vec<i32> =
            chosen.into_iter().filter(|tid| !has_ended || *tid != first).collect();
        if living.is_empty() && matches!(choice, ThreadChoice::Tids(_)) {
            let pid = self.process.pid();
            return Err(LiveError::NoThread { pid, wanted: first.to_string() });
        }
        Ok(living)
    }

    /// Reads the mappings anew, if they have changed.
    ///
    /// # Errors
    /// When the process has ended, or runs another program.
    pub fn refresh(&self, maps: &mut Maps) -> Result<(), LiveError> {
        if !self.is_current() {
            return Err(LiveError::Gone(self.process.pid()));
        }
        maps.read = Instant::now();
        let (text, lines) = self.process.maps()?;
        if text != maps.text
            && let Some(parts) = &self.base.parts
        {
            self.memory.set_maps(&lines);
            *maps = Maps::of(text, lines, &parts.space);
        }
        Ok(())
    }

    /// Whether runtimes are in it, whose frames lie in its heap.
    pub fn has_runtimes(&self) -> bool {
        !self.base.runtimes().is_empty()
    }

    /// A runtime in it whose frames cannot be told from stacks alone.
    pub fn runtime_of_the_instant(&self) -> Option<&'static str> {
        self.base.runtimes().needing_their_instant().next().map(|identity| identity.name)
    }

    /// Copies the stacks of these threads, until `stop` is set.
    ///
    /// # Errors
    /// When none of them is there any more.
    pub fn capture(
        &self,
        maps: &Maps,
        tids: &[i32],
        stop: &AtomicBool,
    ) -> Result<Snapshot, LiveError> {
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
            budget: self.live.budget(),
            stop: Some(stop),
            at: None,
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
        let pages = self.has_runtimes().then(|| -> Arc<dyn LaterMemory> {
            Arc::new(LivePages::new(self.memory.clone(), MAX_PAGES))
        });
        let bytes = core_of(&self.facts, (b"", &[]), &Headers::default(), Some(snapshot));
        let parts = parts_of(self.process, bytes, LiveParts { pages, ..LiveParts::default() })?;
        Ok(self.base.later(parts, maps.mappings.clone(), self.options))
    }
}

fn auxv_of(process: &Process) -> Result<Vec<u8>, LiveError> {
    process.read("auxv", "its auxiliary vector")
}
