//! What keeps a Node.js process alive: handles, requests, workers, timers.
//!
//! `src/env.h`, `src/handle_wrap.h`, `src/req_wrap.h`: an `Environment` lists its handles and requests;
//! the offsets are exported for debuggers (`src/node_postmortem_metadata.cc`), and filled in when the
//! process starts. What libuv knows of a handle is in `deps/uv/include/uv.h`. Timers
//! (`lib/internal/timers.js`) and workers (`lib/internal/worker.js`) are objects of JavaScript, found among
//! all objects of the heaps.

mod environment;
mod offsets;
mod timers;
mod uv;
mod workers;

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Tid;

use super::{Heap, Tagged, V8, heap::Object};
use crate::{
    Host,
    objects::{Stopped, Watch},
};
use environment::Environments;
use offsets::Offsets;

/// Owners that own each other, at most.
const MAX_OWNERS: usize = 8;
/// Properties of an object that are looked at.
const MAX_PROPERTIES: u64 = 64;
/// Names of servers are read to this many units.
const MAX_NAME: u64 = 1 << 10;

/// An object of JavaScript, by its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Where it lies, without tag.
    pub at: Addr,
    /// The name of its class.
    pub class: Arc<str>,
}

/// What a process waits for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Awaited {
    /// A handle, and its type as libuv has it.
    Handle(Option<&'static str>),
    /// A request that is under way.
    Request,
    /// A worker, by its number.
    Worker(Option<i32>),
    /// A timer.
    Timer(Timer),
    /// What `setImmediate` was given.
    Immediate,
}

/// When a timer calls.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Timer {
    /// After how many milliseconds.
    pub delay: Option<f64>,
    /// Whether it comes again.
    pub repeats: bool,
    /// How many milliseconds are left by the clock of its loop; below 0 where it is late. `None` where
    /// that clock is not known.
    pub left: Option<f64>,
}

/// What becomes of a handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It may call at any time.
    Active,
    /// It was not started, or was stopped.
    Idle,
    /// It is being closed.
    Closing,
    /// What it calls runs now.
    Running,
}

impl State {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Idle => "idle",
            Self::Closing => "closing",
            Self::Running => "running",
        }
    }
}

/// A handle, a request, a worker or a timer of Node.js.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeHandle {
    /// What it is.
    pub what: Awaited,
    /// The object of C++; `None` of what is JavaScript's alone.
    pub at: Option<Addr>,
    /// Its object of JavaScript.
    pub object: Option<Named>,
    /// The object of JavaScript that it works for: a server, a socket; itself where there is none.
    pub owner: Option<Named>,
    /// What becomes of it, where that is known.
    pub state: Option<State>,
    /// Whether its loop waits for it.
    pub referenced: Option<bool>,
    /// The name of the function that a timer calls.
    pub callback: Option<Arc<str>>,
    /// Its file descriptor.
    pub fd: Option<u32>,
    /// The process that it waits for.
    pub pid: Option<u32>,
    /// The signal that it waits for, by number.
    pub signal: Option<u32>,
    /// What it is bound to or watches: a path, or an address as Node.js writes it.
    pub bound: Option<Arc<str>>,
    /// The thread whose loop it is of.
    pub thread: Option<Tid>,
}

impl NodeHandle {
    /// Of JavaScript's alone.
    fn of_object(heap: &Heap<'_>, what: Awaited, object: Object) -> Self {
        let it = Named::of(heap, object);
        Self { object: Some(it.clone()), owner: Some(it), ..Self::unnamed(what) }
    }

    /// Of which nothing is known.
    const fn unnamed(what: Awaited) -> Self {
        Self {
            what,
            at: None,
            object: None,
            owner: None,
            state: None,
            referenced: None,
            callback: None,
            fd: None,
            pid: None,
            signal: None,
            bound: None,
            thread: None,
        }
    }

    /// Whether its loop runs on because of it, as far as that is known.
    pub fn keeps_alive(&self) -> bool {
        let is_idle = matches!(self.state, Some(State::Idle | State::Closing));
        !is_idle && self.referenced != Some(false)
    }
}

impl Named {
    fn of(heap: &Heap<'_>, object: Object) -> Self {
        Self { at: object.at, class: heap.constructor_name(object).into() }
    }
}

/// What was found of what a process waits for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handles {
    /// All of it.
    pub all: Vec<NodeHandle>,
    /// Why something is missing, if it is.
    pub doubt: Option<&'static str>,
}

impl V8 {
    /// The handles, requests, workers and timers of all environments of the process.
    ///
    /// # Errors
    /// When whoever watches the heap being searched stopped it.
    pub fn handles(&self, host: &dyn Host, watch: Watch<'_>) -> Result<Handles, Stopped> {
        let (Some(heap), Some(census)) = (self.decodable(host), self.census(host, watch)?) else {
            let doubt = Some("the heap cannot be read");
            return Ok(Handles { all: Vec::new(), doubt });
        };
        let (offsets, mut doubt) = match Offsets::load(self, host) {
            Ok(offsets) => (Some(offsets), None),
            Err(why) => (None, Some(why)),
        };
        let environments = offsets.map(|offsets| Environments::find(host, heap, offsets, &census));
        let mut all = environments.as_ref().map(Environments::listed).unwrap_or_default();
        if environments.as_ref().is_some_and(Environments::is_empty) {
            doubt = Some("no environment of Node.js was found: handles and requests are not known");
        }
        all.extend(workers::workers(&heap, &census, environments.as_ref()));
        all.extend(timers::timers(&heap, &census, environments.as_ref()));
        Ok(Handles { all, doubt })
    }
}

/// The object that another one works for in the end.
fn owner(heap: &Heap<'_>, object: Object) -> Object {
    let next = |object: &Object| {
        let owner = heap.object(symbol_property(heap, *object, "owner_symbol")?)?;
        heap.is_receiver(owner).then_some(owner)
    };
    let mut owners = std::iter::successors(Some(object), next).take(MAX_OWNERS);
    std::iter::from_fn(|| owners.next()).last().unwrap_or(object)
}

fn symbol_property(heap: &Heap<'_>, object: Object, description: &str) -> Option<Tagged> {
    let own = heap.properties(object, MAX_PROPERTIES);
    let found = own.iter().find(|property| heap.is_symbol(property.key, description))?;
    Some(found.value)
}

fn number(heap: &Heap<'_>, value: Tagged) -> Option<f64> {
    match value {
        Tagged::Smi(number) => Some(number.into()),
        value => heap.heap_number(heap.object(value)?),
    }
}

/// Whether a value is the oddball of this name.
fn is_oddball(heap: &Heap<'_>, value: Tagged, name: &str) -> bool {
    heap.object(value).and_then(|value| heap.oddball(value)).is_some_and(|found| found == name)
}
