//! Lists the tasks of all runs.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_parallel::prelude::*;
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

use super::{
    super::{
        Python,
        coroutine::{Awaiting, CoroutineState},
        decode::language,
        dict::Entries,
        frame::PyFrame,
        heap::{Object, STR},
        tasks::members,
    },
    FdSide, Limit, TrioState, TrioTask, TrioTasks, TrioWait,
    clock::Clock,
    fields::Fields,
    runs,
    threads::Threads,
    wait::WaitReader,
};
use crate::Host;

/// Tasks of a process, at most.
const MAX_TASKS: usize = 1 << 22;
/// Tasks that one thread reads before it takes others.
const CHUNK: usize = 1024;
/// What the paths of trio's own files hold; programs have folders of that name too.
const OWN: &str = "/trio/_";

/// The tasks of all runs of a CPython.
pub fn tasks(python: &Python, host: &dyn Host) -> TrioTasks {
    let runs = runs::all(python, host);
    let mut found = TrioTasks { all: Vec::new(), unread: runs.unread };
    if runs.runners.is_empty() {
        return found;
    }
    let threads = Threads::of(python, host);
    for runner in runs.runners {
        let mut fields = Fields::new(python, host);
        let set = fields.get(runner, "tasks");
        match set.and_then(|set| members(&fields.heap, set)) {
            None => found.unread = found.unread.saturating_add(1),
            Some(set) => {
                found.unread = found.unread.saturating_add(set.unread);
                Run::of(&mut fields, &threads, runner).read(&set.tasks, &mut found);
            }
        }
    }
    found.all.sort_unstable_by_key(|task| task.at);
    found.all.dedup_by_key(|task| task.at);
    found
}

/// Some tasks of one run, for who knows where they lie.
pub fn some(python: &Python, host: &dyn Host, runner: Addr, tasks: &[Addr]) -> Option<TrioTasks> {
    let threads = Threads::of(python, host);
    let mut fields = Fields::new(python, host);
    let runner = fields.heap.object(runner)?;
    let mut found = TrioTasks::default();
    Run::of(&mut fields, &threads, runner).read(tasks, &mut found);
    found.all.sort_unstable_by_key(|task| task.at);
    Some(found)
}

/// What the tasks of one run have in common.
struct Run<'a> {
    python: &'a Python,
    host: &'a dyn Host,
    threads: &'a Threads,
    clock: Clock,
    /// Which file descriptors tasks wait for.
    descriptors: FxHashMap<Addr, (i32, FdSide)>,
}

impl<'a> Run<'a> {
    fn of(fields: &mut Fields<'a>, threads: &'a Threads, runner: Object) -> Self {
        let (python, host) = (fields.python, fields.host);
        let clock = Clock::of(fields, runner);
        Self { python, host, threads, clock, descriptors: descriptors(fields, runner) }
    }

    /// Reads tasks on all processors.
    fn read(&self, tasks: &[Addr], found: &mut TrioTasks) {
        let kept = tasks.get(..MAX_TASKS).unwrap_or(tasks);
        let chunk = |tasks: &[Addr]| TaskReader::new(self).read(tasks);
        let chunks: Vec<TrioTasks> = kept.par_chunks(CHUNK).map(chunk).collect();
        let left = tasks.len().saturating_sub(kept.len()) as u64;
        let unread = chunks.iter().map(|chunk| chunk.unread).fold(left, u64::saturating_add);
        found.unread = found.unread.saturating_add(unread);
        found.all.extend(chunks.into_iter().flat_map(|chunk| chunk.all));
    }
}

/// Reads tasks of one run, with what it learnt of those before.
struct TaskReader<'r> {
    run: &'r Run<'r>,
    fields: Fields<'r>,
    /// Limits by the objects that say them: tasks of a nursery have the same.
    limits: FxHashMap<Addr, Limit>,
    /// Names by their texts: tasks of one function share one.
    names: FxHashMap<Addr, Option<Arc<str>>>,
}

impl<'r> TaskReader<'r> {
    fn new(run: &'r Run<'_>) -> Self {
        let fields = Fields::new(run.python, run.host);
        Self { run, fields, limits: FxHashMap::default(), names: FxHashMap::default() }
    }

    fn read(&mut self, tasks: &[Addr]) -> TrioTasks {
        let mut found = TrioTasks::default();
        for at in tasks {
            let task = self.fields.heap.object(*at);
            let coroutine = task.and_then(|task| Some((task, self.fields.get(task, "coro")?)));
            let awaiting = coroutine.and_then(|(task, coroutine)| {
                Some((task, coroutine, self.run.python.awaiting(self.run.host, coroutine.at)?))
            });
            match awaiting {
                None => found.unread = found.unread.saturating_add(1),
                Some((task, coroutine, awaiting)) => {
                    found.all.extend(self.task(task, coroutine, &awaiting));
                }
            }
        }
        found
    }

    /// A task; `None` of one that ended.
    fn task(&mut self, task: Object, coroutine: Object, awaiting: &Awaiting) -> Option<TrioTask> {
        let state = self.state(task, awaiting)?;
        let name = self.name(task);
        let nursery = self.fields.get(task, "_parent_nursery");
        let parent = nursery.and_then(|nursery| self.fields.get(nursery, "_parent_task"));
        let is_running = state == TrioState::Running;
        let is_blocked = state == TrioState::Blocked;
        Some(TrioTask {
            at: task.at,
            name,
            state,
            nursery: nursery.map(|nursery| nursery.at),
            parent: parent.map(|parent| parent.at),
            wait: is_blocked.then(|| self.wait(task, &awaiting.frames)).flatten(),
            limit: self.limit(task),
            thread: is_running.then(|| self.thread(coroutine)).flatten(),
            innermost: own_frame(&awaiting.frames).filter(|_| !is_running).map(language),
            coroutine: coroutine.at,
        })
    }

    fn name(&mut self, task: Object) -> Option<Arc<str>> {
        let text = self.fields.get(task, "name").filter(|name| name.is(STR))?;
        let read = || self.fields.heap.name(text).map(Into::into);
        self.names.entry(text.at).or_insert_with(read).clone()
    }

    fn thread(&self, coroutine: Object) -> Option<Tid> {
        let (python, host) = (self.run.python, self.run.host);
        let frame = python.frame_of(host, &self.fields.heap, coroutine)?;
        self.run.threads.executing(frame)
    }

    fn limit(&mut self, task: Object) -> Limit {
        let Some(status) = self.fields.get(task, "_cancel_status") else { return Limit::None };
        if let Some(known) = self.limits.get(&status.at) {
            return *known;
        }
        let limit = Limit::of(&mut self.fields, self.run.clock, status);
        self.limits.insert(status.at, limit);
        limit
    }

    /// What a task does; `None` of one that ended.
    fn state(&mut self, task: Object, awaiting: &Awaiting) -> Option<TrioState> {
        // Old releases, such as 0.12, have the value alone.
        let is_scheduled = ["_next_send_fn", "_next_send"]
            .into_iter()
            .any(|name| self.fields.get(task, name).is_some());
        match awaiting.state {
            CoroutineState::Finished => None,
            CoroutineState::Running => Some(TrioState::Running),
            // What an old trio sends to one that has not begun is nothing.
            CoroutineState::Created => Some(TrioState::Runnable),
            _ if is_scheduled => Some(TrioState::Runnable),
            _ => Some(TrioState::Blocked),
        }
    }

    fn wait(&mut self, task: Object, frames: &[PyFrame]) -> Option<TrioWait> {
        if let Some((fd, side)) = self.run.descriptors.get(&task.at) {
            return Some(TrioWait::Fd(*fd, *side));
        }
        let (clock, threads) = (self.run.clock, self.run.threads);
        WaitReader { fields: &mut self.fields, clock, threads }.wait(task, frames)
    }
}

/// The innermost frame that is not of trio itself, or the innermost one.
fn own_frame(frames: &[PyFrame]) -> Option<&PyFrame> {
    frames.iter().find(|frame| !frame.code.file.contains(OWN)).or(frames.first())
}

/// Which file descriptors tasks wait for: `EpollIOManager._registered` of `trio/_core/_io_epoll.py`.
fn descriptors(fields: &mut Fields<'_>, runner: Object) -> FxHashMap<Addr, (i32, FdSide)> {
    let mut found = FxHashMap::default();
    let manager = fields.get(runner, "io_manager");
    let registered = manager.and_then(|manager| fields.get(manager, "_registered"));
    let entries = registered.and_then(|registered| Entries::of(&fields.heap, registered));
    for entry in entries.into_iter().flatten().take(MAX_TASKS) {
        let number = fields.heap.object(entry.key).and_then(|key| fields.heap.small_int(key));
        let fd = number.and_then(|number| i32::try_from(number).ok());
        let Some((fd, waiters)) = fd.zip(fields.heap.object(entry.value)) else { continue };
        for (name, side) in [("read_task", FdSide::Read), ("write_task", FdSide::Write)] {
            let task = fields.get(waiters, name);
            found.extend(task.map(|task| (task.at, (fd, side))));
        }
    }
    found
}
