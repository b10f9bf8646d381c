//! Taking a snapshot: prepare, stop and copy, look what is missing, and if something is, do it again.

use std::sync::Arc;

use kcore_elf::core_file::MapLine;
use kcore_files::Finder;
use kcore_live::{
    Caught, Facts, LiveError, LiveMemory, LivePages, Moment, Pid, Plan, Process, Snapshot,
    StackLimit, StoppedProcess, capture, hold,
    image::{Headers, core_of},
};
use kcore_mem::AddrRange;

use super::{
    LiveMoment, LiveOptions, MAX_PROGRAMS, files, locks, parts::parts_of, rehearsal, tasks, wanted,
};
use crate::{
    Core, OpenError, OpenOptions,
    snapshot::{LaterMemory, LiveParts},
};

/// Times that a process is stopped, at most. What a walk misses the first time is copied the second
/// time; what threads came to need meanwhile, the third time.
const MAX_STOPS: usize = 3;
/// Looks at threads while they run, after a stop that did not get all that their stacks need: a look costs them
/// nothing, and each sees other functions.
const LOOKS: usize = 6;
/// Pages of variables and of tasks of a language that are copied, at most: there may be any number of them, and
/// stacks go before them.
const MAX_RUNNING_PAGES: usize = 1024;
/// Pages that are read later from the live process, at most: 4 GiB.
const MAX_LATER_PAGES: usize = 1 << 20;
/// Threads up to whose number floating-point registers are copied.
const FLOATING_UP_TO: usize = 32;

/// Takes a snapshot of a process.
pub fn snapshot(pid: Pid, live: &LiveOptions, options: &OpenOptions) -> Result<Core, OpenError> {
    let mut tries: usize = 1;
    loop {
        let process = Process::open(pid)?;
        match Taking::prepare(&process, live, options).and_then(Taking::take) {
            Err(OpenError::Live(LiveError::Gone(_))) if tries < MAX_PROGRAMS => {
                tries = tries.saturating_add(1);
            }
            done => return done,
        }
    }
}

/// All that is there before the process is stopped.
struct Taking<'a> {
    process: &'a Process,
    live: &'a LiveOptions,
    options: &'a OpenOptions,
    facts: Facts,
    memory: Arc<LiveMemory>,
    text: Vec<u8>,
    maps: Vec<MapLine>,
    headers: Headers,
    finder: Finder,
    threads: Option<Vec<i32>>,
}

impl<'a> Taking<'a> {
    fn prepare(
        process: &'a Process,
        live: &'a LiveOptions,
        options: &'a OpenOptions,
    ) -> Result<Self, OpenError> {
        let memory = Arc::new(LiveMemory::open(process)?);
        let (text, maps) = process.maps()?;
        Ok(Self {
            facts: Facts::read(process)?,
            headers: Headers::read(&memory, &maps),
            finder: files::finder(process, &maps, live, options),
            threads: live.threads.ids(process)?,
            process,
            live,
            options,
            memory,
            text,
            maps,
        })
    }

    fn take(self) -> Result<Core, OpenError> {
        let survey = self.survey()?;
        match &self.live.when {
            None => self.copy(survey, None),
            Some(moment) => self.take_at(moment, survey),
        }
    }

    /// Waits for a moment, and copies the process while it stands still at it.
    fn take_at(self, moment: &LiveMoment, survey: Survey) -> Result<Core, OpenError> {
        let memory = self.memory.clone();
        let threads = self.threads.clone();
        let at = Some(Moment { events: &moment.events, until: moment.until() });
        let plan =
            Plan { at, threads: threads.as_deref(), ..plan_of(self.process, &memory, self.live) };
        let (core, _) = hold(&plan, move |held| self.copy(survey, Some(held)))?;
        core
    }

    /// Copies it, and once more as long as something is missing. One that is held stands still all the while.
    fn copy(
        mut self,
        survey: Survey,
        held: Option<&StoppedProcess<'_>>,
    ) -> Result<Core, OpenError> {
        let Survey { mut wanted, tasks, follow, running } = survey;
        let caught = held.and_then(caught_in);
        let (mut stops, mut earlier) = (Vec::new(), None);
        loop {
            self.refresh()?;
            let together = AddrRange::merged([&wanted[..], &tasks].concat());
            let together = wanted::split(wanted::joined(together), &self.maps);
            let mut snapshot = self.capture(&together, follow, held)?;
            let is_late = snapshot.late || !snapshot.late_threads().is_empty();
            if held.is_some() {
                stops.clear();
                // It is the same moment, of which the first copy has more when the time for another was over.
                snapshot = earlier.take().filter(|_| snapshot.late).unwrap_or(snapshot);
            }
            stops.push(snapshot.stopped);
            let ahead = self.pages(wanted::MAX_PAGES as usize);
            let asked = LiveParts {
                stops: stops.clone(),
                caught: caught.clone(),
                ..LiveParts::asking(ahead.clone())
            };
            let core = self.open(Some(&snapshot), asked)?;
            rehearsal::ask_process(&core);
            rehearsal::walk_stacks(&core);
            tasks::walk(&core);
            if running {
                let _ = core.runtimes().follow_running(&core);
            }
            ahead.close();
            let missed = ahead.ranges();
            if missed.is_empty() && !self.live.live_memory {
                return Ok(core);
            }
            // A process that did not stop in time, or could not be copied in it, is left in peace.
            let is_enough = stops.len() >= MAX_STOPS || wanted::pages(&wanted) >= wanted::MAX_PAGES;
            if missed.is_empty() || is_late || is_enough {
                // What was read ahead is of another instant, and what was concluded from it too.
                let reads_later = self.live.live_memory;
                let pages = reads_later.then(|| -> Arc<dyn LaterMemory> {
                    self.memory.expect_searches(self.process);
                    self.pages(MAX_LATER_PAGES)
                });
                let parts = LiveParts {
                    pages,
                    reads_later,
                    stops,
                    missed_pages: self.missed_pages(&missed),
                    caught,
                };
                return self.open(Some(&snapshot), parts);
            }
            wanted = wanted::with_missed(&wanted, &missed, &self.maps);
            earlier = Some(snapshot);
            if running {
                wanted = AddrRange::merged([wanted, self.watch()?].concat());
            }
        }
    }

    /// Pages that were missed, without those that nobody has written to: there is nothing in them to copy.
    fn missed_pages(&self, missed: &[AddrRange]) -> u64 {
        self.memory.count_filled(missed).unwrap_or_else(|| wanted::pages(missed))
    }

    /// What memory runtimes need for the stacks of threads that run meanwhile.
    fn watch(&self) -> Result<Vec<AddrRange>, OpenError> {
        let mut seen = Vec::new();
        for _ in 0..LOOKS {
            let ahead = self.pages(wanted::MAX_PAGES as usize / LOOKS);
            let core = self.open(None, LiveParts::asking(ahead.clone()))?;
            let _ = core.runtimes().follow_running(&core);
            seen.extend(ahead.ranges());
        }
        Ok(seen)
    }

    /// Reads the mappings anew: while all the rest was prepared, it may have loaded a library, above all
    /// while it starts.
    fn refresh(&mut self) -> Result<(), OpenError> {
        let (text, maps) = self.process.maps()?;
        if text != self.text {
            self.memory.set_maps(&maps);
            self.headers = Headers::read(&self.memory, &maps);
            self.finder = files::finder(self.process, &maps, self.live, self.options);
            (self.text, self.maps) = (text, maps);
        }
        Ok(())
    }

    /// What memory concerns the process as a whole, by looking while it runs; and whether a runtime
    /// is in it, which needs what stacks point to.
    fn survey(&self) -> Result<Survey, OpenError> {
        let ahead = self.pages(wanted::MAX_PAGES as usize);
        let core = self.open(None, LiveParts::asking(ahead.clone()))?;
        rehearsal::ask_process(&core);
        let mut tasks = if tasks::has_some(&core) { self.survey_tasks()? } else { Vec::new() };
        let follow = !core.runtimes().is_empty();
        let running = follow && self.survey_running(&mut tasks)?;
        let locks = locks::wanted(self.process, self.threads.as_deref(), &self.maps);
        let wanted = AddrRange::merged([ahead.ranges(), locks].concat());
        Ok(Survey { wanted, tasks, follow, running })
    }

    /// What memory runtimes need beside stacks, for variables and for tasks of the language. Whether there is such, and
    /// that was all.
    fn survey_running(&self, wanted: &mut Vec<AddrRange>) -> Result<bool, OpenError> {
        let ahead = self.pages(MAX_RUNNING_PAGES);
        let core = self.open(None, LiveParts::asking(ahead.clone()))?;
        let has_some = core.runtimes().follow_running(&core);
        wanted.extend(ahead.ranges().into_iter().filter(|_| has_some));
        Ok(has_some && !ahead.is_full())
    }

    /// What memory concerns stacks that belong to no thread: it may be much more than all else.
    fn survey_tasks(&self) -> Result<Vec<AddrRange>, OpenError> {
        let ahead = self.pages(tasks::MAX_PAGES);
        let core = self.open(None, LiveParts::asking(ahead.clone()))?;
        Ok(tasks::wanted(&core, || ahead.ranges()))
    }

    /// Memory of the process while it runs; of no other one that has its id later.
    fn pages(&self, limit: usize) -> Arc<LivePages> {
        Arc::new(LivePages::new(self.memory.clone(), limit))
    }

    fn capture(
        &self,
        wanted: &[AddrRange],
        follow: bool,
        held: Option<&StoppedProcess<'_>>,
    ) -> Result<Snapshot, OpenError> {
        let plan = Plan {
            maps: &self.maps,
            threads: self.threads.as_deref(),
            memory_too: wanted,
            follow,
            ..plan_of(self.process, &self.memory, self.live)
        };
        Ok(match held {
            Some(held) => held.capture(&plan),
            None => capture(&plan)?,
        })
    }

    fn open(&self, snapshot: Option<&Snapshot>, live: LiveParts) -> Result<Core, OpenError> {
        let bytes = core_of(&self.facts, (&self.text, &self.maps), &self.headers, snapshot);
        let parts = parts_of(self.process, bytes, live)?;
        Ok(Core::of_parts(parts, self.finder.clone(), self.options))
    }
}

/// What was caught, with the id by which the process itself knows the thread.
fn caught_in(held: &StoppedProcess<'_>) -> Option<Caught> {
    let caught = held.caught.clone()?;
    let thread = held.threads.iter().find(|thread| thread.tid == caught.tid);
    let tid = thread.and_then(|thread| i32::try_from(thread.inner_tid).ok()).unwrap_or(caught.tid);
    Some(Caught { tid, ..caught })
}

/// What is copied of a process as options say, as far as they do.
fn plan_of<'a>(process: &'a Process, memory: &'a LiveMemory, live: &LiveOptions) -> Plan<'a> {
    Plan {
        process,
        memory,
        maps: &[],
        threads: None,
        memory_too: &[],
        follow: false,
        stacks: live.stack_size.map_or_else(StackLimit::default, StackLimit::of_each),
        floating_up_to: if live.all_registers { usize::MAX } else { FLOATING_UP_TO },
        timeout: live.stop_timeout,
        copy_timeout: live.stop_timeout,
        budget: live.budget(),
        stop: None,
        rolling: live.rolling,
        at: None,
    }
}

/// What is known to be needed before the process is stopped.
struct Survey {
    /// Memory that concerns the process as a whole.
    wanted: Vec<AddrRange>,
    /// That which concerns stacks that belong to no thread.
    tasks: Vec<AddrRange>,
    /// Whether a runtime needs what stacks point to.
    follow: bool,
    /// Whether runtimes need something beside stacks, all of which is among it.
    running: bool,
}
