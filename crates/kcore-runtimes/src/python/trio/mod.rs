//! Tasks of trio, by the runs that threads have: python-trio/trio, `trio/_core/{_run,_io_epoll,_parking_lot}.py` of 0.12 to 0.35.
//!
//! A thread-local variable of the module says which run a thread is in, and the run has its tasks. Fields are read by their
//! names, which the classes themselves have: a release that calls one otherwise costs what that would tell.

mod clock;
mod fields;
mod limit;
mod list;
mod probe;
mod runs;
mod threads;
mod wait;

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use kcore_mem::Addr;
use kcore_unwind::Tid;

pub use limit::Limit;
pub use probe::{NAME, PROBE};
pub use wait::{FdSide, TrioWait};

use super::{Python, decode::language};
use crate::{Host, Identity, LanguageFrame, Runtime, Task, TaskStart, tokio::Deadline};

/// The trio of one CPython.
pub struct Trio {
    identity: Identity,
    python: Python,
    known: OnceLock<TrioTasks>,
}

/// The tasks of all runs.
#[derive(Debug, Default)]
pub struct TrioTasks {
    /// Those that did not end, by their addresses.
    pub all: Vec<TrioTask>,
    /// How many tasks, or sets of tasks, cannot be read, or only in part.
    pub unread: u64,
}

/// A task that did not end.
#[derive(Clone, Debug, PartialEq)]
pub struct TrioTask {
    /// Its object.
    pub at: Addr,
    /// Its name.
    pub name: Option<Arc<str>>,
    /// What it does.
    pub state: TrioState,
    /// The nursery that holds it; none of the first task of a run.
    pub nursery: Option<Addr>,
    /// The task that opened that nursery.
    pub parent: Option<Addr>,
    /// What it waits for, if it is blocked and that is known.
    pub wait: Option<TrioWait>,
    /// When what it does ends in any case: the earliest deadline of the cancel scopes around it.
    pub limit: Limit,
    /// The thread that runs it.
    pub thread: Option<Tid>,
    /// Its innermost frame of Python that is not of trio itself; none of one that runs.
    pub innermost: Option<LanguageFrame>,
    /// Its coroutine.
    coroutine: Addr,
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrioState {
    /// A thread runs it.
    Running,
    /// It goes on in the next turn of its run.
    Runnable,
    /// It waits until somebody reschedules it.
    Blocked,
}

impl TrioState {
    /// The word for it, of trio's own documentation.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Runnable => "runnable",
            Self::Blocked => "blocked",
        }
    }
}

impl TrioTask {
    /// When its wait ends at the latest, if it is blocked.
    fn until(&self) -> Option<Deadline> {
        self.limit.deadline().filter(|_| self.state == TrioState::Blocked)
    }
}

impl Trio {
    const fn new(identity: Identity, python: Python) -> Self {
        Self { identity, python, known: OnceLock::new() }
    }

    /// Those that have not ended. They are looked for once.
    pub fn known(&self, host: &dyn Host) -> &TrioTasks {
        self.known.get_or_init(|| list::tasks(&self.python, host))
    }

    /// The addresses of its runs, objects of class `Runner`.
    pub fn runs(&self, host: &dyn Host) -> Vec<Addr> {
        runs::all(&self.python, host).runners.into_iter().map(|runner| runner.at).collect()
    }

    /// The frames of a task that does not run, innermost first.
    pub fn frames(&self, host: &dyn Host, task: &TrioTask) -> Vec<LanguageFrame> {
        let awaiting = self.python.awaiting(host, task.coroutine);
        awaiting.iter().flat_map(|awaiting| &awaiting.frames).map(language).collect()
    }

    fn task(task: &TrioTask) -> Task {
        Task {
            runtime: NAME,
            id: task.at.get(),
            name: task.name.clone(),
            state: Cow::Borrowed(task.state.as_str()),
            waits_on: task.wait.as_ref().map(|wait| wait.limited(task.limit).into()),
            until: task.until(),
            entry: None,
            thread: task.thread,
            stack: None,
            start: match (task.state, task.thread) {
                (TrioState::Running, Some(_)) => TaskStart::Running,
                (TrioState::Running, None) => {
                    TaskStart::Unknown("the thread that runs it is not known".into())
                }
                _ => TaskStart::Kept,
            },
        }
    }
}

impl Runtime for Trio {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Tasks begin, go on and end.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        Some(Arc::new(Self::new(self.identity.clone(), self.python.again())))
    }

    /// The frames of those that wait lie in the heap.
    fn follow_running(&self, host: &dyn Host) -> bool {
        self.known(host).all.iter().for_each(|task| drop(self.frames(host, task)));
        true
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        self.known(host).all.iter().map(Self::task).collect()
    }

    fn task_frames(&self, host: &dyn Host, task: &Task) -> Vec<LanguageFrame> {
        if task.runtime != NAME {
            return Vec::new();
        }
        let all = &self.known(host).all;
        let found = all.binary_search_by_key(&task.id, |it| it.at.get()).ok();
        let found = found.and_then(|index| all.get(index));
        found.map(|it| self.frames(host, it)).unwrap_or_default()
    }
}
