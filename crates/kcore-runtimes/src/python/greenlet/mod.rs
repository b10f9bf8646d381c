//! Greenlets of the package `greenlet`, on which gevent, eventlet and SQLAlchemy's asyncio stand.
//!
//! All greenlets of a thread run on its one stack. One that is left has the part of it that others need copied to the
//! heap, and its frames of Python kept in its own object. Facts come from python-greenlet/greenlet, `src/greenlet/`
//! `{TGreenlet.hpp,TStackState.cpp,TPythonState.cpp,platform/switch_amd64_unix.h}` of 2.0 to 3.5, and to 1.1
//! `greenlet.{h,c}`; where the fields lie is found out from the objects themselves.

mod frames;
mod layout;
mod list;
mod object;
mod probe;
mod switch;
mod threads;

use std::{
    borrow::Cow,
    sync::{Arc, OnceLock},
};

use kcore_mem::{Addr, AddrRange, MovedBytes};
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

pub(crate) use probe::may_be_it;
pub use probe::{NAME, PROBE};

use layout::GreenletLayout;
use switch::Switch;
use threads::ThreadEnds;

use super::Python;
use crate::{Host, Identity, NativeStack, Runtime, Span, Task, TaskStart};

/// The name of the type that all are of, or are derived from.
const BASE_CLASS: &str = "greenlet";

/// The greenlets of one CPython.
pub struct Greenlets {
    identity: Identity,
    python: Python,
    /// `PyGreenlet_Type`.
    class: Addr,
    layout: GreenletLayout,
    /// How a greenlet that was left goes on; an error says why it is not known.
    switch: Result<Switch, &'static str>,
    ends: OnceLock<ThreadEnds>,
    known: OnceLock<GreenletList>,
}

/// Those that were found.
#[derive(Debug, Default)]
pub struct GreenletList {
    /// Those that did not end and whose thread did not, in the order of the collector's lists.
    pub all: Vec<Greenlet>,
    /// Lists of the collector that are damaged: some greenlets may be missing.
    pub broken: u64,
}

/// A greenlet that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Greenlet {
    /// Its object.
    pub at: Addr,
    /// Its class.
    pub class: Addr,
    /// What it does.
    pub state: GreenletState,
    /// Whether it is what a thread ran before it had others.
    pub is_main: bool,
    /// The one that goes on when it ends.
    pub parent: Option<Addr>,
    /// The thread on whose stack it was left, or that runs it, where that is known.
    pub thread: Option<Tid>,
    left: LeftGreenlet,
}

/// What a greenlet does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GreenletState {
    /// It did not begin.
    Created,
    /// A thread runs it.
    Running,
    /// It was left.
    Suspended,
}

impl GreenletState {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Running => "running",
            Self::Suspended => "suspended",
        }
    }
}

/// Where a greenlet is to go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct LeftGreenlet {
    /// The stack pointer.
    sp: Addr,
    /// Behind its stack; `None` of a main one, whose stack is the thread's.
    limit: Option<Addr>,
    /// Where the lowest part of it was copied to, and bytes of that.
    copy: Addr,
    saved: u64,
    /// Its innermost frame of Python, and its `_PyCFrame`.
    top_frame: Option<Addr>,
    cframe: Option<Addr>,
}

impl LeftGreenlet {
    /// Its copied bytes; `None` if it cannot be so.
    fn moved(&self) -> Option<MovedBytes> {
        let end = self.sp.checked_add(self.saved)?;
        let is_so = self.limit.is_none_or(|limit| end <= limit)
            && (self.saved == 0 || self.copy.get() != 0);
        is_so.then(|| MovedBytes { home: AddrRange::new(self.sp, end), at: self.copy })
    }
}

impl Greenlets {
    /// Those that have not ended. They are looked for once.
    pub fn known(&self, host: &dyn Host) -> &GreenletList {
        self.known.get_or_init(|| self.list(host))
    }

    /// The name of a class of greenlets; the one that all are derived from is called `greenlet`.
    pub fn class_name(&self, host: &dyn Host, class: Addr) -> Option<Arc<str>> {
        if class == self.class {
            return Some(BASE_CLASS.into());
        }
        self.python.class_name(host, class)
    }

    fn task(&self, host: &dyn Host, greenlet: &Greenlet, name: Option<Arc<str>>) -> Task {
        let is_running = greenlet.state == GreenletState::Running;
        Task {
            runtime: NAME,
            id: greenlet.at.get(),
            name,
            state: Cow::Borrowed(greenlet.state.as_str()),
            waits_on: None,
            until: None,
            entry: None,
            thread: greenlet.thread.filter(|_| is_running),
            stack: None,
            start: self.start(host, greenlet),
        }
    }

    fn start(&self, host: &dyn Host, greenlet: &Greenlet) -> TaskStart {
        let unknown = |why: &str| TaskStart::Unknown(why.into());
        match (greenlet.state, greenlet.left.moved(), self.switch) {
            (GreenletState::Created, ..) => unknown("it has not begun"),
            (GreenletState::Running, ..) if greenlet.thread.is_some() => TaskStart::Running,
            (GreenletState::Running, ..) => unknown("the thread that runs it is not known"),
            (_, None, _) => unknown("what it says of its stack is damaged"),
            (_, Some(moved), Ok(Switch { pc, frame })) => {
                let (sp, limit) = (greenlet.left.sp, greenlet.left.limit);
                let frame_pointer = frame.and_then(|frame| sp.checked_add(frame));
                TaskStart::Moved { sp, frame_pointer, pc, moved, limit }
            }
            (_, Some(_), Err(why)) => match self.frames(host, greenlet) {
                frames if frames.is_empty() => unknown(why),
                frames => TaskStart::Language(frames),
            },
        }
    }

    fn of_task(&self, host: &dyn Host, task: &Task) -> Option<Greenlet> {
        let is_own = task.runtime == NAME && matches!(task.start, TaskStart::Moved { .. });
        is_own.then(|| self.load(host, Addr::new(task.id)))?
    }
}

impl Runtime for Greenlets {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        let greenlet = stack.task.and_then(|task| self.of_task(host, task));
        greenlet.map(|greenlet| self.spans(host, &greenlet, stack)).unwrap_or_default()
    }

    /// They begin, go on and end.
    fn later(&self) -> Option<Arc<dyn Runtime>> {
        Some(Arc::new(Self {
            identity: self.identity.clone(),
            python: self.python.again(),
            layout: self.layout,
            class: self.class,
            switch: self.switch,
            ends: OnceLock::new(),
            known: OnceLock::new(),
        }))
    }

    /// What those that run execute is the affair of their threads.
    fn follow_running(&self, host: &dyn Host) -> bool {
        let all = self.known(host).all.iter();
        let running = all.filter(|it| it.state == GreenletState::Running);
        running.for_each(|greenlet| drop(self.frames(host, greenlet)));
        true
    }

    /// What a thread runs on its own stack is no task.
    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        let mut names: FxHashMap<Addr, Option<Arc<str>>> = FxHashMap::default();
        names.insert(self.class, None);
        let all = self.known(host).all.iter();
        let tasks = all.filter(|it| !it.is_main || it.state == GreenletState::Suspended);
        let task = |greenlet: &Greenlet| {
            let name = names.entry(greenlet.class);
            let name = name.or_insert_with(|| self.python.class_name(host, greenlet.class)).clone();
            self.task(host, greenlet, name)
        };
        tasks.map(task).collect()
    }
}
