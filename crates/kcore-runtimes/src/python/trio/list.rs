//! Lists the tasks of all runs.

use kcore_mem::Addr;
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
/// A folder with functions of trio itself.
const OWN: &str = "/trio/";

/// The tasks of all runs of a CPython.
pub fn tasks(python: &Python, host: &dyn Host) -> TrioTasks {
    let runs = runs::all(python, host);
    let mut found = TrioTasks { all: Vec::new(), unread: runs.unread };
    if runs.runners.is_empty() {
        return found;
    }
    let threads = Threads::of(python, host);
    let mut fields = Fields::new(python, host);
    for runner in runs.runners {
        RunReader::new(&mut fields, &threads, runner).read_all(runner, &mut found);
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
    RunReader::new(&mut fields, &threads, runner).read(tasks.iter().copied(), &mut found);
    found.all.sort_unstable_by_key(|task| task.at);
    Some(found)
}

/// Reads the tasks of one run.
struct RunReader<'r, 'a> {
    fields: &'r mut Fields<'a>,
    threads: &'r Threads,
    clock: Clock,
    /// Which file descriptors tasks wait for.
    descriptors: FxHashMap<Addr, (i32, FdSide)>,
}

impl<'r, 'a> RunReader<'r, 'a> {
    fn new(fields: &'r mut Fields<'a>, threads: &'r Threads, runner: Object) -> Self {
        let clock = Clock::of(fields, runner);
        let descriptors = descriptors(fields, runner);
        Self { fields, threads, clock, descriptors }
    }

    fn read_all(&mut self, runner: Object, found: &mut TrioTasks) {
        let set = self.fields.get(runner, "tasks");
        let Some(set) = set.and_then(|set| members(&self.fields.heap, set)) else {
            found.unread = found.unread.saturating_add(1);
            return;
        };
        found.unread = found.unread.saturating_add(set.unread);
        self.read(set.tasks.into_iter(), found);
    }

    fn read(&mut self, tasks: impl Iterator<Item = Addr>, found: &mut TrioTasks) {
        for at in tasks {
            let task = match found.all.len() < MAX_TASKS {
                true => self.fields.heap.object(at).and_then(|object| self.task(object)),
                false => None,
            };
            match task {
                None => found.unread = found.unread.saturating_add(1),
                Some(None) => {}
                Some(Some(task)) => found.all.push(task),
            }
        }
    }

    /// A task; `None` where its coroutine cannot be read, and nothing of one that ended.
    #[allow(clippy::option_option)]
    fn task(&mut self, task: Object) -> Option<Option<TrioTask>> {
        let (python, host) = (self.fields.python, self.fields.host);
        let coroutine = self.fields.get(task, "coro")?;
        let awaiting = python.awaiting(host, coroutine.at)?;
        let Some(state) = self.state(task, &awaiting) else { return Some(None) };
        let name = self.fields.get(task, "name").filter(|name| name.is(STR));
        let nursery = self.fields.get(task, "_parent_nursery");
        let parent = nursery.and_then(|nursery| self.fields.get(nursery, "_parent_task"));
        let is_running = state == TrioState::Running;
        let frame = python.frame_of(host, &self.fields.heap, coroutine);
        Some(Some(TrioTask {
            at: task.at,
            name: name.and_then(|name| self.fields.heap.name(name)).map(Into::into),
            state,
            nursery: nursery.map(|nursery| nursery.at),
            parent: parent.map(|parent| parent.at),
            wait: (state == TrioState::Blocked)
                .then(|| self.wait(task, &awaiting.frames))
                .flatten(),
            limit: Limit::of(self.fields, self.clock, task),
            thread: frame.filter(|_| is_running).and_then(|frame| self.threads.executing(frame)),
            innermost: own_frame(&awaiting.frames).filter(|_| !is_running).map(language),
            coroutine: coroutine.at,
        }))
    }

    /// What a task does; `None` of one that ended.
    fn state(&mut self, task: Object, awaiting: &Awaiting) -> Option<TrioState> {
        // Before trio 0.15 there is the value alone.
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
        if let Some((fd, side)) = self.descriptors.get(&task.at) {
            return Some(TrioWait::Fd(*fd, *side));
        }
        let (clock, threads) = (self.clock, self.threads);
        WaitReader { fields: self.fields, clock, threads }.wait(task, frames)
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
