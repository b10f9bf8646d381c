//! One `boost::fibers::context`: what a fiber is.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::layout::{Layout, context};

/// `boost::fibers::type` of `type.hpp`.
const MAIN: u64 = 1 << 1;
const DISPATCHER: u64 = 1 << 2;
const WORKER: u64 = 1 << 3;

/// Stacks are smaller.
const MAX_STACK: u64 = 16 << 30;
/// The context of a fiber lies at the end of its own stack, at a multiple of this, and before it what
/// Boost.Context knows of the stack (`make_worker_context` of `context.hpp`; `create_fiber2` of
/// Boost.Context's `fiber_fcontext.hpp`).
const RECORD: u64 = 0x100;
/// Bytes from a context to the end of its stack, at most: what it is to run is among them.
const MAX_BEHIND: u64 = 1 << 20;

/// What a fiber is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One that a program made.
    Worker,
    /// What a thread does on its own stack.
    Main,
    /// The scheduler's own, which looks who is next.
    Dispatcher,
}

/// What is read of a context.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// Where it lies.
    pub at: Addr,
    /// What it is for.
    pub kind: Kind,
    /// Its scheduler; null while it is in a queue that schedulers share.
    pub scheduler: Addr,
    /// The stack pointer with which it was left; `None` while it runs.
    pub saved: Option<Addr>,
    /// Whether it is in a queue of those that are ready.
    pub is_ready: bool,
    /// Until when it sleeps, if it does, in nanoseconds of the monotonic clock.
    pub deadline: Option<u64>,
}

impl Context {
    /// A context that has not ended.
    pub fn load(space: &dyn AddressSpace, layout: &Layout, at: Addr) -> Option<Self> {
        let word = |offset: u64| space.read_word(at.checked_add(offset)?).ok();
        let small = |offset: u64, size| space.read_uint(at.checked_add(offset)?, size).ok();
        if !at.get().is_multiple_of(8) || small(context::TERMINATED, 1)? != 0 {
            return None;
        }
        let sleeps = word(layout.sleep_hook)? != 0;
        Some(Self {
            at,
            kind: Kind::of(small(layout.kind, 4)?)?,
            scheduler: Addr::new(word(layout.scheduler)?),
            saved: Some(word(layout.saved)?).filter(|saved| *saved != 0).map(Addr::new),
            is_ready: word(layout.ready_hook)? != 0 || word(context::REMOTE_HOOK)? != 0,
            deadline: word(layout.deadline).filter(|_| sleeps),
        })
    }

    /// The memory that its stack may use, if that is its own: what Boost.Context knows of it says so, and the
    /// saved stack pointer lies in it.
    pub fn stack(&self, space: &dyn AddressSpace) -> Option<AddrRange> {
        let record = Addr::new(self.at.get().checked_sub(RECORD)?);
        let (size, top) = match self.kind {
            Kind::Main => return None,
            _ => (space.read_word(record).ok()?, space.read_addr(record.checked_add(8)?).ok()?),
        };
        let behind = top.offset_from(self.at)?;
        let start = Addr::new(top.get().checked_sub(size)?);
        let range = AddrRange::new(start, record);
        let is_one = (1..MAX_STACK).contains(&size) && (1..MAX_BEHIND).contains(&behind);
        let holds = self.saved.is_none_or(|saved| range.contains(saved));
        (is_one && holds && start < record).then_some(range)
    }
}

impl Kind {
    const fn of(kind: u64) -> Option<Self> {
        match kind {
            MAIN => Some(Self::Main),
            DISPATCHER => Some(Self::Dispatcher),
            WORKER => Some(Self::Worker),
            _ => None,
        }
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Main => "main",
            Self::Dispatcher => "dispatcher",
        }
    }
}
