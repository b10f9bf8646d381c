//! Fibers: `cont.c`, `coroutine/amd64/Context.{h,S}`, of 2.7.4, 3.1.2 and 3.3.8.
//!
//! No list has all fibers of a process. They are found among the objects of the heap: what a fiber's object points to has
//! a context that points back at it.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_unwind::{RegisterId, Regs};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Ruby,
    heap::{DATA, Heap, Object},
    probe::NAME,
    version::Version,
};
use crate::{Host, Task, TaskStart};

/// Fibers of a process, at most.
const MAX_FIBERS: usize = 1 << 22;
/// Fibers that resumed each other, at most.
const MAX_RESUMERS: usize = 1 << 12;
/// `cont.self` and `cont.saved_ec` of `struct rb_fiber_struct`; `data` of `struct RTypedData`.
const SELF: u64 = 16;
const CONTEXT: u64 = 80;
const TYPED: u64 = 32;
/// `FIBER_CONTEXT`.
const IS_FIBER: u64 = 1;
/// Bytes of a stack, at most.
const MAX_STACK: u64 = 1 << 32;
/// What `coroutine_transfer` leaves on the stack, from its pointer on: r15, r14, r13, r12, rbx, rbp, the return address.
const SAVED: [RegisterId; 6] =
    [RegisterId(15), RegisterId(14), RegisterId(13), RegisterId(12), RegisterId(3), RegisterId(6)];
const RETURN: u64 = 48;
const POPPED: u64 = 56;
const RSP: RegisterId = RegisterId(7);

/// `status` of a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FiberState {
    /// It has not begun.
    Created,
    /// It is the one that its thread runs.
    Resumed,
    /// It waits to be resumed, or for a fiber that it resumed.
    Suspended,
    /// It ended.
    Terminated,
}

/// A fiber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fiber {
    /// `struct rb_fiber_struct`.
    pub at: Addr,
    /// Its object, if the program ever asked for it.
    pub object: Option<Addr>,
    /// Its context.
    pub context: Addr,
    /// `rb_thread_t` of its thread.
    pub thread: Addr,
    /// What it does.
    pub state: FiberState,
    /// The fiber that it resumed, and that has not yielded.
    pub resumes: Option<Addr>,
    /// The fiber that resumed it.
    pub resumer: Option<Addr>,
    /// Its stack of C; the first fiber of a thread has the thread's.
    pub stack: Option<AddrRange>,
    /// The saved stack pointer.
    pub sp: Addr,
}

/// The fibers of a process that have not ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fibers {
    /// They, by their address.
    pub all: Vec<Fiber>,
    /// The suspended ones, by the stack pointer with which they go on.
    by_stack_pointer: FxHashMap<Addr, usize>,
}

impl Fibers {
    /// The suspended fiber whose stack begins at a stack pointer.
    pub fn at_stack_pointer(&self, sp: Addr) -> Option<&Fiber> {
        self.all.get(*self.by_stack_pointer.get(&sp)?)
    }

    /// The fiber on whose own stack an address lies.
    pub fn on_stack(&self, at: Addr) -> Option<&Fiber> {
        self.all.iter().find(|fiber| fiber.stack.is_some_and(|stack| stack.contains(at)))
    }
}

impl Ruby {
    /// The fibers of the process. They are looked for once.
    pub fn fibers(&self, host: &dyn Host) -> &Fibers {
        self.fibers.get_or_init(|| self.find_fibers(host))
    }

    fn find_fibers(&self, host: &dyn Host) -> Fibers {
        let heap = self.heap(host);
        let threads = self.threads(host);
        let Some(buffer) = self.buffer_size(host) else { return Fibers::default() };
        let known: FxHashSet<Addr> = threads.all.iter().map(|thread| thread.at).collect();
        let mut places: FxHashSet<Addr> = FxHashSet::default();
        // The budget ends long work.
        let mut watch = |_, _| match host.budget().is_some_and(|budget| budget.is_halted()) {
            true => std::ops::ControlFlow::Break(()),
            false => std::ops::ControlFlow::Continue(()),
        };
        let _stopped = self.each_slot(host, &mut watch, &mut |object, _| {
            let fiber = heap.fiber_of(object).filter(|_| places.len() < MAX_FIBERS);
            places.extend(
                fiber.filter(|at| heap.thread_of_fiber(*at).is_some_and(|it| known.contains(&it))),
            );
        });
        for thread in &threads.all {
            let mut next = heap.pointer(thread.context, heap.layout.context.fiber);
            for _ in 0..MAX_RESUMERS {
                let Some(at) = next.filter(|at| heap.thread_of_fiber(*at) == Some(thread.at))
                else {
                    break;
                };
                places.insert(at);
                next = heap.fiber(at, buffer).and_then(|fiber| fiber.resumer);
            }
        }
        let mut all: Vec<Fiber> =
            places.into_iter().filter_map(|at| heap.fiber(at, buffer)).collect();
        all.retain(|fiber| fiber.state != FiberState::Terminated);
        all.sort_unstable_by_key(|fiber| fiber.at);
        let suspended =
            all.iter().enumerate().filter(|(_, fiber)| fiber.state == FiberState::Suspended);
        let by_stack_pointer =
            suspended.filter_map(|(index, fiber)| Some((fiber.sp.checked_add(POPPED)?, index)));
        Fibers { by_stack_pointer: by_stack_pointer.collect(), all }
    }

    /// The fibers as tasks, but for the first of each thread while the thread runs that: it is the thread.
    pub(super) fn fiber_tasks(&self, host: &dyn Host) -> Vec<Task> {
        let is_thread = |fiber: &&Fiber| fiber.stack.is_none() && self.runs(host, fiber);
        let fibers = self.fibers(host).all.iter().filter(|fiber| !is_thread(fiber));
        fibers.map(|fiber| self.fiber_task(host, fiber)).collect()
    }

    fn runs(&self, host: &dyn Host, fiber: &Fiber) -> bool {
        self.threads(host).all.iter().any(|thread| thread.context == fiber.context)
    }

    fn fiber_task(&self, host: &dyn Host, fiber: &Fiber) -> Task {
        let owner = self.threads(host).all.iter().find(|thread| thread.at == fiber.thread);
        let thread = owner.filter(|_| self.runs(host, fiber)).and_then(|thread| thread.tid);
        let (state, waits_on): (_, Option<Arc<str>>) = match (fiber.state, fiber.resumes) {
            _ if thread.is_some() => ("running", None),
            (FiberState::Created, _) => ("created", Some("its first resume".into())),
            (FiberState::Suspended, Some(at)) => {
                ("resuming", Some(format!("fiber {:x}", at.get()).into()))
            }
            (FiberState::Suspended, None) => ("suspended", Some("its next resume".into())),
            (FiberState::Resumed | FiberState::Terminated, _) => ("resumed", None),
        };
        let start = match (thread, fiber.state) {
            (Some(_), _) => TaskStart::Running,
            (None, FiberState::Created) => TaskStart::Unknown("it has not begun".into()),
            (None, FiberState::Suspended) => self.start(host, fiber),
            (None, _) => TaskStart::Unknown(
                "its thread, which runs it, is not among those of the process".into(),
            ),
        };
        Task {
            runtime: NAME,
            id: fiber.at.get(),
            name: None,
            state: state.into(),
            waits_on,
            until: None,
            entry: None,
            thread,
            stack: fiber.stack,
            start,
        }
    }

    /// Where a suspended fiber goes on.
    fn start(&self, host: &dyn Host, fiber: &Fiber) -> TaskStart {
        let heap = self.heap(host);
        let saved = || {
            let pc = Addr::new(heap.word(fiber.sp, RETURN)?);
            self.module.contains(pc).then_some(())?;
            let mut regs = Regs::new(pc);
            for (register, offset) in SAVED.into_iter().zip((0..).step_by(8)) {
                regs.set(register, heap.word(fiber.sp, offset));
            }
            regs.set(RSP, Some(fiber.sp.checked_add(POPPED)?.get()));
            Some((regs, pc))
        };
        match saved() {
            Some((regs, pc)) => TaskStart::Suspended {
                regs: (&regs).into(),
                pc: CodeAddr::Return(pc),
                bottom: None,
            },
            None => TaskStart::Unknown(
                format!("its stack, at {:x}, cannot be read", fiber.sp.get()).into(),
            ),
        }
    }
}

impl Heap<'_> {
    /// The fiber that an object stands for.
    fn fiber_of(&self, object: Object) -> Option<Addr> {
        (object.kind() == DATA).then_some(())?;
        let at = self.pointer(object.at, TYPED)?;
        (self.word(at, SELF)? == object.at.get()).then_some(at)
    }

    /// The thread of what lies at an address, if that is a fiber.
    pub(super) fn thread_of_fiber(&self, at: Addr) -> Option<Addr> {
        (self.uint(at, 0, 4)? == IS_FIBER).then_some(())?;
        let context = at.checked_add(CONTEXT)?;
        (self.pointer(context, self.layout.context.fiber)? == at).then_some(())?;
        self.pointer(context, self.layout.context.thread)
    }

    /// The fiber at an address. How big its buffer for jumps is depends on how MRI was built: that of a tag says it.
    fn fiber(&self, at: Addr, buffer: u64) -> Option<Fiber> {
        let version = self.layout.version;
        // Behind the buffer: `ensure_array`, to 3.3, and what a compiler has.
        let extra = if version >= Version::new(3, 4) { 8 } else { 16 };
        let behind = CONTEXT
            .checked_add(self.layout.context.size)?
            .checked_add(buffer)?
            .checked_add(extra)?;
        // `first_proc`, `prev`, and `resuming_fiber` since 3.0.
        let has_resumed = version >= Version::new(3, 0);
        let status = behind.checked_add(if has_resumed { 24 } else { 16 })?;
        let machine = status.checked_add(8)?;
        // `struct coroutine_context` has one word in 2.7.
        let stack = machine.checked_add(if has_resumed { 16 } else { 8 })?;
        let state = match self.uint(at, status, 1)? & 3 {
            0 => FiberState::Created,
            1 => FiberState::Resumed,
            2 => FiberState::Suspended,
            _ => FiberState::Terminated,
        };
        let (base, size) = (self.word(at, stack)?, self.word(at, stack.checked_add(16)?)?);
        let sp = Addr::new(self.word(at, machine)?);
        let own = (base != 0).then(|| AddrRange::with_len(Addr::new(base), size.min(MAX_STACK)));
        let resumer = self.word(at, behind.checked_add(8)?)?;
        let resumes = if has_resumed { self.word(at, behind.checked_add(16)?)? } else { 0 };
        let is_fiber = |word: u64| word == 0 || self.thread_of_fiber(Addr::new(word)).is_some();
        let fits = match own {
            Some(own) => own.contains(sp) || state == FiberState::Terminated,
            None => size == 0 || state == FiberState::Terminated,
        };
        (fits && is_fiber(resumer) && is_fiber(resumes)).then_some(())?;
        let context = at.checked_add(CONTEXT)?;
        Some(Fiber {
            at,
            object: self.pointer(at, SELF),
            context,
            thread: self.pointer(context, self.layout.context.thread)?,
            state,
            resumes: (resumes != 0).then_some(Addr::new(resumes)),
            resumer: (resumer != 0).then_some(Addr::new(resumer)),
            stack: own.filter(|own| !own.is_empty()),
            sp,
        })
    }
}
