//! Where a stack begins: what the address before a dcmd that takes a stack means.

use kcore::{Addr, Core, End, MAX_FRAMES, Stack, Task, TaskId, Thread, Tid, coroutine::Coroutines};
use kcore_dcmd::{Cx, DcmdError, Dot, NameScope, Result};

use std::sync::Arc;

use crate::{erlang, operand};

/// Where a stack begins.
#[derive(Clone, Debug)]
pub enum StackStart {
    /// At the registers of a thread.
    Thread(Tid),
    /// At the registers of a task: saved ones, or those of the thread that runs it.
    Task(Arc<Task>),
    /// At the caller of a known frame.
    Above {
        /// Its thread.
        tid: Tid,
        /// Its index among physical frames.
        index: usize,
    },
    /// At the caller of a frame of a task that no thread runs.
    AboveInTask {
        /// The task.
        task: Arc<Task>,
        /// Its index among physical frames.
        index: usize,
    },
    /// At the caller of the frame whose frame pointer lies here.
    FramePointer {
        /// The thread that it is shown for.
        tid: Tid,
        /// The address.
        at: Addr,
    },
    /// At the registers that a saved `ucontext_t` holds.
    Context {
        /// The thread that it is shown for.
        tid: Tid,
        /// The address.
        at: Addr,
    },
}

impl StackStart {
    /// What the address before the dcmd means: a thread or a frame of a pipe; a number is a frame
    /// pointer if it is a mapped address, or the task of a runtime or the coroutine that lies there, else a thread's id. Without one: the
    /// current thread.
    pub fn of(cx: &Cx<'_>) -> Result<Self> {
        Self::within(cx.names())
    }

    /// The same for names in a scope.
    pub fn within(scope: NameScope<'_>) -> Result<Self> {
        let core = scope.core;
        match scope.owner {
            None => scope.current_thread().map(Self::Thread),
            Some(Dot::Thread(tid)) => known_thread(core, tid).map(Self::Thread),
            Some(Dot::Task(id)) => known_task(core, id).cloned().map(Self::Task),
            Some(Dot::Frame { tid, index, .. }) => Ok(Self::Above { tid, index }),
            Some(Dot::TaskFrame { task, index, .. }) => {
                Ok(Self::AboveInTask { task: known_task(core, task)?.clone(), index })
            }
            Some(dot @ (Dot::Number(_) | Dot::Addr(_))) => Self::of_number(scope, dot.addr()),
        }
    }

    /// The registers that the `ucontext_t` at the address holds.
    pub fn of_context(cx: &Cx<'_>) -> Result<Self> {
        let at = operand::context(cx)?;
        Ok(Self::Context { tid: cx.current_thread()?, at })
    }

    fn of_number(scope: NameScope<'_>, at: Addr) -> Result<Self> {
        let core = scope.core;
        if core.mapping_at(at).is_some() {
            let owner = core.stacks().thread_at(at);
            let tid = owner.map_or_else(|| scope.current_thread(), Ok)?;
            if let Some(frame) = frame_with_pointer(core, tid, at) {
                return Ok(frame);
            }
            if let Some(chain) = chain_at(core, at) {
                return Ok(Self::Task(Arc::new(chain)));
            }
            // Tasks are asked for where that costs no search, and where no frame is meant and a runtime may have one.
            let runtimes = core.runtimes();
            // Outside of stacks any words may look like those of a frame.
            let is_frame = || owner.is_some() && !core.stacks().above(tid, at, 1).frames.is_empty();
            let is_task = || !runtimes.is_empty() && !is_frame();
            let is_meant = runtimes.keep_stacks() || is_task();
            let frame = runtimes.keep_stacks().then(|| frame_of_task(core, at)).flatten();
            if let Some(frame) = frame {
                return Ok(frame);
            }
            let task = is_meant.then(|| core.tasks().numbered(at.get())).flatten();
            return Ok(task.cloned().map_or(Self::FramePointer { tid, at }, Self::Task));
        }
        let tid = u32::try_from(at.get()).map(Tid::new);
        let thread = tid.ok().filter(|tid| core.thread(*tid).or(meant(core, *tid)).is_some());
        if thread.is_none()
            && let Some(task) = core.tasks().numbered(at.get())
        {
            return Ok(Self::Task(task.clone()));
        }
        let tid = thread.ok_or_else(|| {
            // A process of Erlang is named by its number, and may be one that could not be read.
            let unread = erlang::unread(core).map(|it| format!("; {it}")).unwrap_or_default();
            DcmdError::failed(format!(
                "{at:x} is neither a mapped address nor a thread: invalid thread identifier{unread}"
            ))
        })?;
        known_thread(core, tid).map(Self::Thread)
    }

    /// The thread that the stack belongs to; `None` for a task that no thread runs.
    pub fn tid(&self) -> Option<Tid> {
        match self {
            Self::Thread(tid)
            | Self::Above { tid, .. }
            | Self::FramePointer { tid, .. }
            | Self::Context { tid, .. } => Some(*tid),
            Self::Task(task) | Self::AboveInTask { task, .. } => task.thread,
        }
    }

    /// The task that it is the stack of, if no thread runs it.
    pub fn suspended(&self) -> Option<TaskId> {
        let task = self.task().filter(|task| task.thread.is_none());
        task.map(|task| TaskId::of(task))
    }

    /// The task that it is the stack of.
    pub const fn task(&self) -> Option<&Arc<Task>> {
        match self {
            Self::Task(task) | Self::AboveInTask { task, .. } => Some(task),
            _ => None,
        }
    }

    /// The stack, at most `limit` frames.
    pub fn stack(&self, core: &Core, limit: usize) -> Stack {
        match self {
            Self::Thread(tid) => core.stacks().of_thread(*tid, limit),
            Self::Task(task) => core.stacks().of_task(task, limit),
            Self::FramePointer { tid, at } => core.stacks().above(*tid, *at, limit),
            Self::Context { tid, at } => core.stacks().of_context(*tid, *at, limit),
            Self::Above { tid, index } => {
                above(*index, limit, |limit| core.stacks().of_thread(*tid, limit))
            }
            Self::AboveInTask { task, index } => {
                above(*index, limit, |limit| core.stacks().of_task(task, limit))
            }
        }
    }
}

/// The callers of a frame, at most `limit`, of a stack that is walked so far as it must be.
fn above(index: usize, limit: usize, walk: impl Fn(usize) -> Stack) -> Stack {
    let skipped = index.saturating_add(1);
    let mut stack = walk(limit.saturating_add(skipped));
    stack.keep(skipped..stack.frames.len());
    if let End::Limit(_) = stack.end {
        stack.end = End::Limit(limit);
    }
    stack
}

/// The frame of a task that no thread runs for which `$C` prints `at`.
fn frame_of_task(core: &Core, at: Addr) -> Option<StackStart> {
    let holds = |task: &Task| task.stack.is_some_and(|stack| stack.contains(at));
    let mut tasks = core.tasks().all().iter();
    let task = tasks.find(|task| task.thread.is_none() && holds(task))?;
    let stack = core.stacks().of_task(task, MAX_FRAMES);
    let index = stack.frames.iter().position(|frame| frame.frame_pointer == Some(at))?;
    Some(StackStart::AboveInTask { task: task.clone(), index })
}

/// The coroutine of C++20 whose frame begins at an address, with those that await it. Two words tell whether there may be one.
fn chain_at(core: &Core, at: Addr) -> Option<Task> {
    let mut found = core.tasks().runtimes().of::<Coroutines>();
    let found = found.find(|found| found.is_frame(core, at))?;
    found.task_at(core, at)
}

/// The frame of `tid` for which `$C` prints `at`.
fn frame_with_pointer(core: &Core, tid: Tid, at: Addr) -> Option<StackStart> {
    let stack = core.stacks().of_thread(tid, MAX_FRAMES);
    let index = stack.frames.iter().position(|frame| frame.frame_pointer == Some(at))?;
    Some(StackStart::Above { tid, index })
}

/// The thread, if the process has it; else the error says which number may have been meant.
pub fn known_thread(core: &Core, tid: Tid) -> Result<Tid> {
    if core.thread(tid).is_some() {
        return Ok(tid);
    }
    let hint = meant(core, tid).map(|meant| meant.tid);
    let hint = hint.map(|tid| format!(" (thread ids are decimal: 0t{tid})")).unwrap_or_default();
    let id = tid.get();
    Err(DcmdError::failed(format!("no thread {id:x}: invalid thread identifier{hint}")))
}

/// The task, if the process has it.
pub fn known_task(core: &Core, id: TaskId) -> Result<&Arc<Task>> {
    let task = core.tasks().by_id(id);
    task.ok_or_else(|| DcmdError::failed(format!("no {} {:x}", id.runtime, id.number)))
}

/// The thread of an id that was typed.
pub fn thread_of_id(core: &Core, id: u64) -> Result<Tid> {
    match u32::try_from(id) {
        Ok(id) => known_thread(core, Tid::new(id)),
        Err(_) => Err(DcmdError::failed(format!("no thread {id:x}: invalid thread identifier"))),
    }
}

/// The thread whose id has the digits of `tid` in decimal: an id is printed so, and typed without
/// `0t` it is read in hexadecimal.
fn meant(core: &Core, tid: Tid) -> Option<&Thread> {
    let decimal = format!("{:x}", tid.get()).parse().ok()?;
    core.thread(Tid::new(decimal))
}
