//! Fibers of Boost.Fiber: user-mode threads, each thread of the system with a scheduler of its own.
//!
//! Facts come from boostorg/fiber, `include/boost/fiber/{context,scheduler,waker}.hpp`, `src/{context,scheduler}.cpp`
//! and `algo/`, and from boostorg/context, `fiber_fcontext.hpp`, releases 1.66 to 1.88. A thread-local variable
//! points to the fiber that a thread runs, that to its scheduler, and that keeps all that are not ended. Everything is
//! proven by what points back at it before it is believed.

mod context;
mod entry;
mod layout;
mod probe;
mod running;
mod scheduler;
mod shared;
mod state;
mod waits;

use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_unwind::{Regs, Tid};
use rustc_hash::{FxHashMap, FxHashSet};

pub use context::Kind;
pub use entry::Entry;
pub use probe::PROBE;
pub use state::State;
pub use waits::Wait;

use context::Context;
use entry::Entries;
use layout::Layout;
use probe::LibraryData;
use running::FiberStack;
use scheduler::Scheduler;
use waits::Queues;

use crate::{Host, Identity, Runtime, Task, TaskStart, fcontext, tokio::Deadline};

/// The schedulers of the threads that have one in a module.
pub struct Fibers {
    identity: Identity,
    schedulers: Vec<Scheduler>,
    layout: &'static Layout,
    places: LibraryData,
    known: OnceLock<SchedulerData>,
}

/// What schedulers keep.
struct SchedulerData {
    all: Arc<[Fiber]>,
    damaged: Vec<Tid>,
}

/// A fiber that has not ended.
#[derive(Clone, Debug)]
pub struct Fiber {
    /// Its `boost::fibers::context`, by which the library names it.
    pub at: Addr,
    /// What it is for.
    pub kind: Kind,
    /// What it does.
    pub state: State,
    /// The thread whose scheduler keeps it; `None` while it is in a queue that several share.
    pub scheduler: Option<Tid>,
    /// What it was made to run.
    pub entry: Entry,
    /// Until when it sleeps, or waits at most, in nanoseconds of the monotonic clock.
    pub until: Option<u64>,
    /// What it waits for.
    pub waits_on: Option<Wait>,
    /// The memory that its stack may use, if that is its own.
    pub stack: Option<AddrRange>,
    /// The registers with which it goes on, if it was left.
    saved: Option<Box<Regs>>,
}

impl Fibers {
    /// All fibers that have not ended, those of one thread after the other. They are looked for once.
    pub fn all(&self, host: &dyn Host) -> Arc<[Fiber]> {
        self.known(host).all.clone()
    }

    /// The threads of whose fibers some are missing, for the list of them is damaged.
    pub fn damaged(&self, host: &dyn Host) -> &[Tid] {
        &self.known(host).damaged
    }

    fn known(&self, host: &dyn Host) -> &SchedulerData {
        self.known.get_or_init(|| self.enumerate(host))
    }

    fn enumerate(&self, host: &dyn Host) -> SchedulerData {
        let space = host.space();
        let (mut contexts, mut damaged) = (Vec::new(), Vec::new());
        for scheduler in &self.schedulers {
            let (own, is_damaged) = scheduler.contexts(space);
            contexts.extend(own);
            damaged.extend(is_damaged.then_some(scheduler.thread));
        }
        let shared = self.shared(host);
        let is_ready: FxHashSet<Addr> = shared.iter().map(|context| context.at).collect();
        contexts.extend(shared);
        let mut seen = FxHashSet::default();
        contexts.retain(|context| seen.insert(context.at));
        for context in &mut contexts {
            context.is_ready |= is_ready.contains(&context.at);
        }
        let mut stacks: Vec<FiberStack> = contexts
            .iter()
            .filter_map(|it| Some(FiberStack { range: it.stack(space)?, fiber: it.at }))
            .collect();
        stacks.sort_by_key(|stack| stack.range.end);
        let left: FxHashSet<Addr> =
            contexts.iter().filter(|it| it.saved.is_some()).map(|it| it.at).collect();
        let is_left = |fiber| left.contains(&fiber);
        let mut found = FiberSurvey {
            states: running::running(host, &self.schedulers, &stacks, &is_left),
            queues: Queues::new(space, self.layout, seen.iter().copied()),
            entries: Entries::default(),
            places: FxHashMap::default(),
        };
        let all = contexts.iter().map(|context| self.fiber(host, context, &mut found));
        SchedulerData { all: all.collect(), damaged }
    }

    /// Those that are ready in queues which schedulers share.
    fn shared(&self, host: &dyn Host) -> Vec<Context> {
        let space = host.space();
        let shared = self.places.shared.iter().flat_map(|at| shared::of_deque(space, *at));
        let algorithms = self.schedulers.iter().map(|scheduler| scheduler.algorithm);
        let is_stealing = |at: &Addr| self.is_one_of(host, *at, &self.places.stealing);
        let stealing = algorithms.filter(is_stealing);
        let stolen = stealing.flat_map(|at| shared::of_stealing(space, at));
        let load = |at| {
            let context = Context::load(space, self.layout, at)?;
            let is_one = context.kind == Kind::Main || context.stack(space).is_some();
            is_one.then_some(context)
        };
        shared.chain(stolen).filter_map(load).collect()
    }

    /// Whether an object begins with one of some tables of virtual functions.
    fn is_one_of(&self, host: &dyn Host, at: Addr, tables: &[Addr]) -> bool {
        host.space().read_addr(at).is_ok_and(|table| tables.contains(&table))
    }

    fn fiber(&self, host: &dyn Host, context: &Context, found: &mut FiberSurvey<'_>) -> Fiber {
        let stack = context.stack(host.space());
        // What else is saved than on the stack of Boost.Context is a record of another kind.
        let is_known = stack.is_some() || context.kind == Kind::Main;
        let saved = context.saved.filter(|_| is_known);
        let saved = saved.and_then(|saved| self.saved(host, saved, stack));
        let waits_on = match found.states.contains_key(&context.at) || context.is_ready {
            true => None,
            false => found.queues.of(context),
        };
        let state = found.states.get(&context.at).copied();
        let state = state.unwrap_or_else(|| {
            let begins = saved.as_ref().is_some_and(|regs| found.begins(host, regs));
            self.state(host, context, waits_on.is_some(), begins)
        });
        let is_worker = context.kind == Kind::Worker;
        Fiber {
            at: context.at,
            kind: context.kind,
            state,
            scheduler: self.of(context).map(|scheduler| scheduler.thread),
            entry: match is_worker {
                true => found.entries.of(host, self.layout, context.at),
                false => Entry::default(),
            },
            until: context.deadline.filter(|until| *until < i64::MAX.cast_unsigned()),
            waits_on,
            // The own stack of a thread is known where it was left.
            stack: stack.or_else(|| host.range_at(context.saved?).map(|mapping| mapping.range)),
            saved: saved.map(Box::new),
        }
    }

    /// The scheduler that keeps a fiber.
    fn of(&self, context: &Context) -> Option<&Scheduler> {
        self.schedulers.iter().find(|scheduler| scheduler.at == context.scheduler)
    }

    /// What a fiber does that no thread is about.
    fn state(&self, host: &dyn Host, context: &Context, waits: bool, begins: bool) -> State {
        let algorithm = self.of(context).map(|scheduler| scheduler.algorithm);
        let known = [&*self.places.algorithms, &self.places.stealing];
        let is_known =
            algorithm.is_some_and(|at| known.iter().any(|tables| self.is_one_of(host, at, tables)));
        match (context.is_ready, waits, context.deadline.is_some()) {
            (true, ..) if begins => State::Created,
            (true, ..) => State::Ready,
            (_, true, _) => State::Waiting,
            (.., true) => State::Sleeping,
            _ if is_known => State::Waiting,
            _ => State::Suspended,
        }
    }

    /// The registers with which a fiber goes on.
    fn saved(&self, host: &dyn Host, at: Addr, stack: Option<AddrRange>) -> Option<Regs> {
        let end = stack.or_else(|| Some(host.range_at(at)?.range))?.end;
        let is_code = |at| host.range_at(at).is_some_and(|mapping| mapping.executable);
        fcontext::saved_by_any(host.space(), at, end, &is_code)
    }

    fn task(fiber: &Fiber) -> Task {
        let name = (fiber.kind != Kind::Worker).then(|| fiber.kind.as_str().into());
        let waits = matches!(fiber.state, State::Waiting | State::Sleeping);
        Task {
            runtime: probe::NAME,
            id: fiber.at.get(),
            name,
            state: fiber.state.as_str().into(),
            waits_on: fiber.waits_on.map(|wait| wait.to_string().into()),
            until: fiber.until.filter(|_| waits).map(Deadline::from_nanos),
            entry: fiber.entry.function,
            thread: fiber.state.thread(),
            stack: fiber.stack,
            start: Self::start(fiber),
        }
    }

    /// Where the stack of a fiber begins.
    fn start(fiber: &Fiber) -> TaskStart {
        match (fiber.state, &fiber.saved) {
            (State::Running(_) | State::Switching(Some(_)), _) => TaskStart::Running,
            (_, Some(regs)) => TaskStart::Suspended {
                pc: CodeAddr::Return(regs.pc()),
                regs: (&**regs).into(),
                bottom: None,
            },
            (State::Switching(None), None) => TaskStart::Unknown(
                "a thread was about to leave or to enter it, and has its registers".into(),
            ),
            _ => TaskStart::Unknown("its saved registers cannot be read".into()),
        }
    }
}

/// What is known before single fibers are looked at.
struct FiberSurvey<'a> {
    /// Of those that threads are about.
    states: FxHashMap<Addr, State>,
    queues: Queues<'a>,
    entries: Entries,
    /// What code is, by return addresses.
    places: FxHashMap<Addr, Option<InnermostFunction>>,
}

/// Functions that may be the innermost ones of a stack that was not entered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InnermostFunction {
    /// The one with which all begin.
    First,
    /// The one by which that calls the switch.
    Switch,
}

/// The name of [`InnermostFunction::Switch`], of Boost.Context's `src/fcontext.cpp`, and the words of its frame.
const SWITCH: &str = "boost::context::detail::jump_fcontext";
const SWITCH_FRAME: u64 = 16;

impl FiberSurvey<'_> {
    /// Whether a stack that goes on with some registers was not entered: nothing was called on it but the function
    /// with which all begin. Since 1.87 that calls the switch by a function of its own.
    fn begins(&mut self, host: &dyn Host, regs: &Regs) -> bool {
        if self.place_of(host, regs.pc()) != Some(InnermostFunction::Switch) {
            return self.place_of(host, regs.pc()) == Some(InnermostFunction::First);
        }
        let sp = fcontext::stack_pointer(host.space().target().arch);
        let Some(sp) = sp.and_then(|sp| regs.get(sp)).map(Addr::new) else { return false };
        let words = (0..SWITCH_FRAME).filter_map(|index| sp.checked_add(index.checked_mul(8)?));
        let mut words = words.filter_map(|at| host.space().read_addr(at).ok());
        let is_code = |at: &Addr| host.range_at(*at).is_some_and(|mapping| mapping.executable);
        let caller = words.find(is_code);
        caller.is_some_and(|caller| self.place_of(host, caller) == Some(InnermostFunction::First))
    }

    /// What the code is that a return address leads to.
    fn place_of(&mut self, host: &dyn Host, pc: Addr) -> Option<InnermostFunction> {
        *self.places.entry(pc).or_insert_with(|| {
            let function = host.function_at(CodeAddr::Return(pc))?;
            match &*function {
                function if probe::is_first(function) => Some(InnermostFunction::First),
                SWITCH => Some(InnermostFunction::Switch),
                _ => None,
            }
        })
    }
}

impl Runtime for Fibers {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    /// A thread that is on its own stack runs no task.
    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        let known = self.known(host);
        let is_task = |fiber: &&Fiber| fiber.kind != Kind::Main || fiber.state.thread().is_none();
        known.all.iter().filter(is_task).map(Self::task).collect()
    }
}
