//! Fibers: `zend_fibers.h` of 8.1 and later. Each has a stack of its own, and is switched to as Boost.Context does.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, CodeAddr};
use kcore_unwind::Tid;

use super::{Php, frame::Chain, globals::Globals, memory::Memory, probe::NAME};
use crate::{Host, Task, TaskStart, fcontext};

/// `context.handle`, `context.stack` and `context.status` of `zend_fiber`.
const HANDLE: u64 = 64;
const STACK: u64 = 96;
const STATUS: u64 = 104;
/// `zend_fiber_status`.
const CREATED: u64 = 0;
const RUNNING: u64 = 1;
const SUSPENDED: u64 = 2;
/// The most that a stack may have.
const MAX_STACK: u64 = 1 << 36;

/// A fiber that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fiber {
    /// `zend_fiber`.
    pub at: Addr,
    /// `zend_fiber_status`.
    pub status: u64,
    /// Its stack, once it has one.
    pub stack: Option<AddrRange>,
    /// What `boost_context_jump` left of it.
    handle: Option<Addr>,
    /// The call in which it is suspended.
    innermost: Option<Addr>,
    /// The frame at the bottom of its stack.
    bottom: Option<Addr>,
}

/// The stack of a fiber, and the globals of the thread that has it.
pub type FiberStack = (AddrRange, Fiber, Globals);

impl Memory<'_> {
    /// The fiber at an address, unless it ended.
    fn fiber(&self, at: Addr) -> Option<Fiber> {
        let offsets = self.layout.fiber?;
        let status = self.uint(at, STATUS, 4).filter(|status| *status <= SUSPENDED)?;
        let stack = self.pointer(at, STACK).and_then(|stack| {
            let len = self.word(stack, 8).filter(|len| *len <= MAX_STACK)?;
            let start = self.pointer(stack, 0)?;
            Some(AddrRange::new(start, start.checked_add(len)?))
        });
        Some(Fiber {
            at,
            status,
            stack: stack.filter(|_| status != CREATED),
            handle: self.pointer(at, HANDLE),
            innermost: self.pointer(at, offsets.frame).filter(|_| status == SUSPENDED),
            bottom: self.pointer(at, offsets.bottom),
        })
    }
}

impl Php {
    fn all_fibers(&self, host: &dyn Host, store: Addr) -> Vec<Fiber> {
        let memory = self.memory(host);
        if self.layout.fiber.is_none() {
            return Vec::new();
        }
        let all = memory.objects_of(store, "Fiber").into_iter();
        all.filter_map(|at| memory.fiber(at)).collect()
    }

    /// Fibers as tasks.
    pub(super) fn fibers(
        &self,
        host: &dyn Host,
        store: Addr,
        thread: Option<Tid>,
        chain: &Chain,
    ) -> Vec<Task> {
        let innermost = chain.bottoms.first().map(|(bottom, _)| *bottom);
        let task = |fiber: Fiber| {
            let is_innermost = fiber.bottom.is_some() && fiber.bottom == innermost;
            let (state, start) = match fiber.status {
                CREATED => ("created", TaskStart::Unknown(Arc::from("it has not begun"))),
                RUNNING if is_innermost => ("running", TaskStart::Running),
                // It resumed another, and waits for that.
                RUNNING => ("waits for a fiber", start(host, &fiber)),
                _ => ("suspended", start(host, &fiber)),
            };
            Task {
                runtime: NAME,
                id: fiber.at.get(),
                name: None,
                state: state.into(),
                waits_on: None,
                until: None,
                entry: None,
                thread: thread.filter(|_| is_innermost),
                stack: fiber.stack,
                start,
            }
        };
        self.all_fibers(host, store).into_iter().map(task).collect()
    }

    /// The calls of the fiber on whose stack an address lies.
    pub(super) fn chain_of_stack(&self, host: &dyn Host, sp: Addr) -> Option<Chain> {
        let all = self.fiber_stacks.get_or_init(|| self.all_stacks(host));
        let after = all.partition_point(|(stack, ..)| stack.start <= sp);
        let (stack, fiber, globals) = all.get(after.checked_sub(1)?)?;
        stack.contains(sp).then_some(())?;
        match fiber.innermost {
            Some(innermost) => Some(within(self.memory(host).chain(innermost, None), None)),
            None => Some(within(self.chain_of(host, globals)?, fiber.bottom)),
        }
    }

    /// The stacks of all fibers, lowest first.
    fn all_stacks(&self, host: &dyn Host) -> Vec<FiberStack> {
        let memory = self.memory(host);
        let mut all = Vec::new();
        for (globals, _) in self.all_globals(host) {
            let Some(store) = globals.objects(&memory) else { continue };
            let fibers = self.all_fibers(host, store).into_iter();
            all.extend(fibers.filter_map(|fiber| Some((fiber.stack?, fiber, globals))));
        }
        all.sort_by_key(|(stack, ..)| stack.start);
        all
    }
}

/// The calls that lie on one stack: those before the bottom of it, and behind that of the one before.
fn within(chain: Chain, bottom: Option<Addr>) -> Chain {
    let wanted = bottom.and_then(|bottom| chain.bottoms.iter().position(|(at, _)| *at == bottom));
    let place = |index: usize| chain.bottoms.get(index).map(|(_, place)| *place);
    let index = wanted.unwrap_or_default();
    let end = place(index).unwrap_or(chain.frames.len());
    let start = index.checked_sub(1).and_then(place).unwrap_or_default();
    let frames = chain.frames.get(start..end).map(<[_]>::to_vec).unwrap_or_default();
    Chain { frames, bottoms: Vec::new(), broken: chain.broken.filter(|_| place(index).is_none()) }
}

fn start(host: &dyn Host, fiber: &Fiber) -> TaskStart {
    let regs = fiber.stack.zip(fiber.handle).and_then(|(stack, handle)| {
        let is_code = |at| host.range_at(at).is_some_and(|range| range.executable);
        stack.contains(handle).then_some(())?;
        fcontext::saved_by_any(host.space(), handle, stack.end, &is_code)
    });
    match regs {
        Some(regs) => {
            let pc = CodeAddr::Return(regs.pc());
            TaskStart::Suspended { regs: (&regs).into(), pc, bottom: None }
        }
        None => TaskStart::Unknown(Arc::from("where it was left cannot be read")),
    }
}
