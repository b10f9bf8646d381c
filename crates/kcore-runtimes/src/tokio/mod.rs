//! Tasks of tokio, the runtime of asynchronous Rust.
//!
//! A task is a block of memory that begins with its state and the table of its functions, and holds the future that
//! it runs. The tables are found by their shape in the module that has tokio, tasks by the tables in memory, whatever
//! runtime or `LocalSet` they belong to. What a future waits for, debug information tells: `shape` reads its type,
//! `future` follows those that wait for one another, `leaf` knows what the last one waits for.
//!
//! Facts come from tokio-rs/tokio, `tokio/src/runtime/task/{core,raw,state,list}.rs` of 1.24 to 1.54.

mod cell;
mod future;
mod kind;
mod leaf;
mod probe;
mod running;
mod shape;
#[cfg(test)]
mod tests;
mod vtable;
mod wait;

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock, PoisonError, RwLock},
};

use kcore_mem::{Addr, AddrRange, Fault, Region};
use kcore_parallel::prelude::*;
use kcore_symbols::Type;
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

pub use cell::TaskState;
pub use future::{Await, AwaitEnd};
pub use probe::{NAME, PROBE};
pub use wait::{Deadline, Wait, WaitKind, WaitedFor};

use cell::TaskCell;
use future::FutureReader;
use kind::{CellTypes, TaskKind};
use shape::Shapes;
use vtable::TaskVtable;

use crate::{
    FrameKind, Host, Identity, LanguageFrame, Runtime, Task, TaskStart,
    graph::native_words::referring,
};

/// Tasks of one module, at most.
const MAX_TASKS: usize = 1 << 22;
/// Tasks that one thread looks at before it takes more.
const CHUNK: usize = 256;

/// The tasks of one tokio.
pub struct Tokio {
    identity: Identity,
    vtables: Arc<FxHashMap<Addr, TaskVtable>>,
    shapes: Arc<Shapes>,
    cells: Arc<CellTypes>,
    /// What is known of all tasks with one table.
    kinds: Arc<RwLock<FxHashMap<Addr, Arc<TaskKind>>>>,
    known: OnceLock<Vec<TokioTask>>,
}

/// A task that did not end.
#[derive(Clone, Debug)]
pub struct TokioTask {
    /// Where it lies.
    pub at: Addr,
    /// Its number, as `tokio::task::Id` shows it.
    pub id: u64,
    /// The number of the list that it is in: each runtime and each `LocalSet` has one.
    pub owner: u64,
    /// What runs it: `multi_thread`, `current_thread`, `local`.
    pub scheduler: Option<&'static str>,
    /// The word for its state; see [`TaskState`]. One that did not run yet is `created`.
    pub state: &'static str,
    /// The type of its future.
    pub future: Option<Arc<str>>,
    /// The thread that runs it.
    pub thread: Option<Tid>,
    /// What it waits for.
    pub waits_on: Option<Arc<str>>,
    /// The kind of that, in a word.
    pub waits_for: Option<&'static str>,
    /// The task that holds the lock which it waits for.
    pub holder: Option<u64>,
    /// Where its innermost function of the program's own waits.
    pub innermost: Option<LanguageFrame>,
    vtable: TaskVtable,
    is_running: bool,
    /// The locks that it holds, and the one that it waits for.
    held: Box<[Addr]>,
    lock: Option<Addr>,
    /// When its wait ends in any case.
    limit: Option<Deadline>,
    /// When the timer that it waits for, or this limit, is due: the earlier one.
    until: Option<Deadline>,
}

impl Await {
    /// What the future of a type at a place is doing; `None` if the type cannot be read.
    pub fn of(host: &dyn Host, at: Addr, future: &Type) -> Option<Self> {
        let shapes = Shapes::default();
        let mut reader = FutureReader::new(host, &shapes);
        let future = reader.value(at, future)?;
        Some(reader.follow(&future))
    }
}

impl Await {
    /// When the timer is due that it waits for, if it is one alone.
    fn timer(&self) -> Option<Deadline> {
        match &self.end {
            AwaitEnd::Leaf(Wait { which: Some(WaitedFor::Deadline(deadline)), .. }) => {
                Some(*deadline)
            }
            _ => None,
        }
    }
}

impl Tokio {
    /// The tasks that did not end, in the order of their numbers. They are looked for once.
    pub fn known(&self, host: &dyn Host) -> &[TokioTask] {
        self.known.get_or_init(|| self.list(host))
    }

    /// Why of some tasks nothing is known but number and state, though there is debug information, and of how many.
    pub fn unknown_futures(&self, host: &dyn Host) -> Option<(Arc<str>, usize)> {
        let kinds = self.known(host).iter().map(|task| self.kind(host, task.vtable));
        let mut whys = kinds.filter_map(|kind| kind.why.clone());
        Some((whys.next()?, whys.count().saturating_add(1)))
    }

    /// What a task is doing.
    pub fn chain(&self, host: &dyn Host, task: &TokioTask) -> Option<Await> {
        let kind = self.kind(host, task.vtable);
        let future = kind.future(host, &self.shapes, task.at)?;
        Some(FutureReader::new(host, &self.shapes).follow(&future))
    }

    fn list(&self, host: &dyn Host) -> Vec<TokioTask> {
        let mut cells = self.cells(host);
        cells.retain(|cell| cell.state != TaskState::Complete);
        let threads = running::threads(host, &cells);
        let one = |cell: &TaskCell| self.task_of(host, cell, &threads);
        let mut all: Vec<TokioTask> = cells.par_iter().with_min_len(CHUNK).map(one).collect();
        all.sort_by_key(|task| task.id);
        all.dedup_by_key(|task| task.id);
        name_holders(&mut all);
        name_awaited(host, &self.vtables, &mut all);
        all.iter_mut().for_each(TokioTask::name_limit);
        all
    }

    /// Bytes of the memory in which tasks lie that are not there.
    pub fn unread(&self, host: &dyn Host) -> u64 {
        missing(host, memory(host).into_iter())
    }

    /// All tasks that memory holds.
    fn cells(&self, host: &dyn Host) -> Vec<TaskCell> {
        let memory = memory(host);
        let is_table = |word: u64| {
            let at = Addr::new(word);
            self.vtables.contains_key(&at).then_some(at)
        };
        let watch = &mut |_, _| std::ops::ControlFlow::Continue(());
        let found = referring(host.space(), &memory, MAX_TASKS, &is_table, watch);
        let places = found.unwrap_or_default().into_iter();
        let places = places.filter_map(|(word, _)| TaskCell::around_vtable(word));
        places.filter_map(|at| TaskCell::load(host.space(), at, &self.vtables)).collect()
    }

    /// What is known of all tasks with one table.
    fn kind(&self, host: &dyn Host, vtable: TaskVtable) -> Arc<TaskKind> {
        let known = self.kinds.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&vtable.at) {
            return known.clone();
        }
        drop(known);
        let kind = Arc::new(TaskKind::load(host, vtable, &self.shapes, &self.cells));
        let mut kinds = self.kinds.write().unwrap_or_else(PoisonError::into_inner);
        kinds.entry(vtable.at).or_insert(kind).clone()
    }

    fn task_of(
        &self,
        host: &dyn Host,
        cell: &TaskCell,
        threads: &FxHashMap<Addr, Tid>,
    ) -> TokioTask {
        let kind = self.kind(host, cell.vtable);
        let mut task = TokioTask {
            at: cell.at,
            id: cell.id,
            owner: cell.owner,
            scheduler: kind.scheduler,
            state: cell.state.as_str(),
            future: kind.name.clone(),
            thread: threads.get(&cell.at).copied(),
            waits_on: None,
            waits_for: None,
            holder: None,
            innermost: None,
            vtable: cell.vtable,
            is_running: cell.state == TaskState::Running,
            held: Box::default(),
            lock: None,
            limit: None,
            until: None,
        };
        // What one that runs has in memory is what it waited for before.
        if task.is_running {
            return task;
        }
        if let Some(chain) = self.chain(host, &task) {
            task.take(&chain);
        }
        task
    }

    fn start(task: &TokioTask) -> TaskStart {
        match (task.is_running, task.thread) {
            (true, Some(_)) => TaskStart::Running,
            (true, None) => TaskStart::Unknown("the thread that runs it is not known".into()),
            (false, _) => TaskStart::Kept,
        }
    }

    fn frames(&self, host: &dyn Host, task: &TokioTask) -> Vec<LanguageFrame> {
        let chain = self.chain(host, task);
        let mut frames = Vec::new();
        match chain {
            Some(chain) => innermost_first(chain, &mut frames),
            None => frames.extend(self.nameless(host, task)),
        }
        frames
    }

    /// The one frame of a task whose future cannot be read.
    fn nameless(&self, host: &dyn Host, task: &TokioTask) -> Option<LanguageFrame> {
        let kind = self.kind(host, task.vtable);
        Some(LanguageFrame {
            kind: FrameKind::Async,
            function: Some(kind.name.clone().unwrap_or_else(|| "(unknown future)".into())),
            language: Some("rust"),
            object: Some(task.at),
            doubt: Some(kind.why.clone()?),
            ..LanguageFrame::default()
        })
    }
}

impl TokioTask {
    fn name_limit(&mut self) {
        if let (Some(_), Some(waits_on)) = (self.limit, &self.waits_on) {
            self.waits_on = Some(limited(waits_on.to_string(), self.limit).into());
        }
    }

    /// One that was told to end before it ran never will.
    fn has_not_run(&mut self) {
        if self.state != TaskState::Cancelled.as_str() {
            self.state = "created";
        }
    }

    /// What its chain of futures says of it.
    fn take(&mut self, chain: &Await) {
        self.held = held(chain).into();
        self.limit = chain.limit;
        self.until = chain.limit.into_iter().chain(chain.timer()).min();
        let own = |frame: &&LanguageFrame| frame.line.is_some() && !is_of_tokio(frame);
        self.innermost = chain.frames.iter().rev().find(own).cloned();
        match &chain.end {
            AwaitEnd::Leaf(wait) => {
                self.waits_on = Some(wait.to_string().into());
                self.waits_for = Some(wait.kind.as_str());
                if let (WaitKind::Mutex, Some(WaitedFor::Object(at))) = (wait.kind, wait.which) {
                    self.lock = Some(at);
                }
            }
            AwaitEnd::Branches(kind, all) => {
                self.waits_on = Some(branches(kind, all).into());
                self.waits_for = Some(kind);
            }
            AwaitEnd::Unresumed if chain.frames.len() == 1 => self.has_not_run(),
            AwaitEnd::Unresumed | AwaitEnd::Disabled | AwaitEnd::Ended | AwaitEnd::Unknown => {}
        }
    }
}

/// Whether it is a function of tokio itself.
fn is_of_tokio(frame: &LanguageFrame) -> bool {
    frame.function.as_deref().is_some_and(|name| name.starts_with("tokio::"))
}

/// The memory in which tasks may lie.
fn memory(host: &dyn Host) -> Vec<AddrRange> {
    let memory = host.ranges().into_iter().filter(|it| it.readable && !it.executable);
    memory.filter(|it| !it.is_file).map(|it| it.range).collect()
}

/// Bytes of these ranges that are missing since the core was cut off.
fn missing(host: &dyn Host, ranges: impl Iterator<Item = AddrRange>) -> u64 {
    let regions = host.space().regions();
    let is_cut = |hole: &AddrRange| {
        let fault = host.space().origin(hole.start).err();
        matches!(fault, Some(Fault::Truncated(_) | Fault::Unreadable(_)))
    };
    let holes = ranges.flat_map(|range| holes(&regions, range));
    holes.filter(is_cut).map(|hole| hole.len()).fold(0, u64::saturating_add)
}

/// The parts of a range that no region has. Regions are in order.
fn holes(regions: &[Region], range: AddrRange) -> Vec<AddrRange> {
    let first = regions.partition_point(|region| region.range.end <= range.start);
    let within = regions.iter().skip(first).take_while(|it| it.range.start < range.end);
    let mut found = Vec::new();
    let mut at = range.start;
    for region in within {
        if region.range.start > at {
            found.push(AddrRange::new(at, region.range.start));
        }
        at = at.max(region.range.end);
    }
    if at < range.end {
        found.push(AddrRange::new(at, range.end));
    }
    found
}

/// What several futures wait for, in a line.
fn branches(kind: &str, all: &[Await]) -> String {
    let end = |branch: &Await| match &branch.end {
        AwaitEnd::Leaf(wait) => wait.to_string(),
        AwaitEnd::Branches(kind, all) => format!("({kind} of {})", all.len()),
        AwaitEnd::Unresumed => "not begun".to_owned(),
        AwaitEnd::Disabled => "disabled".to_owned(),
        AwaitEnd::Ended => "done".to_owned(),
        AwaitEnd::Unknown => "unknown".to_owned(),
    };
    let one = |branch: &Await| limited(end(branch), branch.limit);
    let shown: Vec<String> = all.iter().take(MAX_SHOWN).map(one).collect();
    let more = if all.len() > shown.len() { ", ..." } else { "" };
    format!("{kind} of {}: {}{more}", all.len(), shown.join(", "))
}

/// What is waited for, with the time at which the wait ends.
fn limited(waits_on: String, limit: Option<Deadline>) -> String {
    match limit {
        Some(limit) => format!("{waits_on}, timeout {limit}"),
        None => waits_on,
    }
}

/// Branches that are named in a line.
const MAX_SHOWN: usize = 4;

/// The locks that are held on all branches.
fn held(chain: &Await) -> Vec<Addr> {
    let mut all = chain.held.clone();
    if let AwaitEnd::Branches(_, branches) = &chain.end {
        all.extend(branches.iter().flat_map(held));
    }
    all
}

/// The frames of a chain, those of each branch before it, under a frame that says which branch it is.
fn innermost_first(chain: Await, frames: &mut Vec<LanguageFrame>) {
    if let AwaitEnd::Branches(kind, branches) = chain.end {
        let count = branches.len();
        for (index, branch) in branches.into_iter().enumerate() {
            let number = index.saturating_add(1);
            let disabled = match branch.end {
                AwaitEnd::Disabled => ", disabled",
                _ => "",
            };
            innermost_first(branch, frames);
            frames.push(LanguageFrame {
                kind: FrameKind::Async,
                function: Some(format!("{{{kind}: branch {number} of {count}{disabled}}}").into()),
                language: Some("rust"),
                ..LanguageFrame::default()
            });
        }
    }
    frames.extend(chain.frames.into_iter().rev());
}

/// Says which task holds a lock that another one waits for.
fn name_holders(all: &mut [TokioTask]) {
    let holders: FxHashMap<Addr, u64> =
        all.iter().flat_map(|task| task.held.iter().map(|lock| (*lock, task.id))).collect();
    for task in all {
        let holder = task.lock.and_then(|lock| holders.get(&lock).copied());
        task.holder = holder.filter(|holder| *holder != task.id);
        if let (Some(holder), Some(waits_on)) = (task.holder, &task.waits_on) {
            task.waits_on = Some(format!("{waits_on} held by task {holder}").into());
        }
    }
}

/// Says which task another one waits for, of which its future has the place alone.
fn name_awaited(host: &dyn Host, vtables: &FxHashMap<Addr, TaskVtable>, all: &mut [TokioTask]) {
    for task in all.iter_mut().filter(|task| task.waits_for == Some(WaitKind::Task.as_str())) {
        let place = task.waits_on.as_deref().and_then(|text| text.strip_prefix("task "));
        let place = place.and_then(|text| u64::from_str_radix(text, 16).ok()).map(Addr::new);
        let awaited = place.and_then(|at| TaskCell::load(host.space(), at, vtables));
        task.waits_on = Some(match awaited {
            Some(awaited) => format!("task {}", awaited.id).into(),
            None => WaitKind::Task.as_str().into(),
        });
    }
}

impl Runtime for Tokio {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn task_frames(&self, host: &dyn Host, task: &Task) -> Vec<LanguageFrame> {
        let all = self.known(host);
        let found = all.binary_search_by_key(&task.id, |task| task.id);
        let found = found.ok().and_then(|index| all.get(index)).filter(|task| !task.is_running);
        found.map(|task| self.frames(host, task)).unwrap_or_default()
    }

    /// Tasks begin, go on and end.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        Some(Arc::new(Self {
            identity: self.identity.clone(),
            vtables: self.vtables.clone(),
            shapes: self.shapes.clone(),
            cells: self.cells.clone(),
            kinds: self.kinds.clone(),
            known: OnceLock::new(),
        }))
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        let task = |task: &TokioTask| Task {
            runtime: NAME,
            id: task.id,
            name: task.future.clone(),
            state: Cow::Borrowed(task.state),
            waits_on: task.waits_on.clone(),
            until: task.until,
            entry: Some(task.vtable.poll),
            thread: task.thread,
            stack: None,
            start: Self::start(task),
        };
        self.known(host).iter().map(task).collect()
    }
}
