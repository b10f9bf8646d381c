//! One `bthread::TaskMeta`, and the stack that it points at.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{layout::Layout, pool::Item};

/// Stacks are smaller.
const MAX_STACK: u64 = 16 << 30;
/// Bytes of a name, its end included (`bthread_attr_t` of `src/bthread/types.h`).
const NAME_LEN: usize = 32;

/// A stack of a type of its own: on that of the worker, `STACK_TYPE_PTHREAD` of `src/bthread/types.h`.
const ON_WORKER: u64 = 1;

/// What is read of a task that lives.
#[derive(Clone, Debug)]
pub struct Meta {
    /// Where it lies.
    pub at: Addr,
    /// Its `bthread_t`.
    pub id: u64,
    /// What waits for it waits on this.
    pub version_butex: Addr,
    /// Its entry function.
    pub entry: Addr,
    /// What that was given.
    pub argument: Addr,
    /// Its `bthread::ContextualStack`; null before it first ran.
    pub stack: Addr,
    /// What it waits with, `bthread::ButexWaiter`; null when it does not wait.
    pub waiter: Addr,
    /// The timer that ends its sleep; 0 when it does not sleep.
    pub sleep: u64,
    /// How often it was switched to.
    pub switches: Option<u64>,
    stack_type: u64,
}

impl Meta {
    /// A task that lives; `None` for a slot that is free, or whose id is not that of its slot.
    pub fn load(space: &dyn AddressSpace, layout: &Layout, item: Item) -> Option<Self> {
        if !is_live(space, item.at, layout.id, layout.version_butex) {
            return None;
        }
        let word = |offset: u64| space.read_word(item.at.checked_add(offset)?).ok();
        let addr = |offset: u64| word(offset).map(Addr::new);
        let id = word(layout.id).filter(|id| id & u64::from(u32::MAX) == item.slot)?;
        Some(Self {
            at: item.at,
            id,
            version_butex: addr(layout.version_butex)?,
            entry: addr(layout.entry)?,
            argument: addr(layout.argument)?,
            stack: addr(layout.stack)?,
            waiter: addr(layout.waiter)?,
            sleep: word(layout.sleep)?,
            switches: layout.switches.and_then(word),
            stack_type: space.read_uint(item.at.checked_add(layout.attributes)?, 4).ok()?,
        })
    }

    /// Whether it is one at all: the own stack of a worker has an entry in the pool as well.
    pub const fn is_bthread(&self) -> bool {
        self.stack_type != 0 && self.entry.get() != 0
    }

    /// Whether it stands for what a worker does when it runs no bthread.
    pub const fn is_worker(&self) -> bool {
        self.stack_type == 0 && self.stack.get() != 0
    }

    /// Whether it runs on the stack of its worker.
    pub const fn is_on_worker(&self) -> bool {
        self.stack_type == ON_WORKER
    }

    /// The name that it was given.
    pub fn name(&self, space: &dyn AddressSpace, layout: &Layout) -> Option<Arc<str>> {
        let at = self.at.checked_add(layout.name?)?;
        let name = space.read_cstr(at, NAME_LEN).ok().filter(|name| !name.is_empty())?;
        Some(String::from_utf8_lossy(&name).into())
    }
}

/// Whether the task in a slot has not ended: the upper half of its id is the version that it counts by.
pub fn is_live(space: &dyn AddressSpace, at: Addr, id: u64, version_butex: u64) -> bool {
    let id = at.checked_add(id).and_then(|at| space.read_word(at).ok());
    let version = at.checked_add(version_butex).and_then(|at| space.read_addr(at).ok());
    let version = version.and_then(|at| space.read_uint(at, 4).ok());
    let own = id.map(|id| id >> 32);
    own.is_some_and(|own| own != 0) && own == version
}

/// The stack of a task.
#[derive(Clone, Copy, Debug)]
pub struct StackArea {
    /// From the lowest address that may be used; half-open.
    pub range: AddrRange,
    /// Bytes of the guard below it.
    pub guard: u64,
    /// The stack pointer with which it was left.
    pub context: Addr,
}

impl StackArea {
    /// That of a task, if it has one.
    pub fn load(space: &dyn AddressSpace, layout: &Layout, meta: &Meta) -> Option<Self> {
        (meta.stack.get() != 0 && !meta.is_on_worker()).then_some(())?;
        Self::of(space, layout, meta.stack)
    }

    /// That of the task in a slot.
    pub fn at(space: &dyn AddressSpace, layout: &Layout, meta: Addr) -> Option<Self> {
        Self::of(space, layout, space.read_addr(meta.checked_add(layout.stack)?).ok()?)
    }

    /// What a `bthread::ContextualStack` says, if the saved stack pointer lies in the stack.
    fn of(space: &dyn AddressSpace, layout: &Layout, stack: Addr) -> Option<Self> {
        let fields = layout.of_stack;
        let half = |offset: u64| space.read_uint(stack.checked_add(offset)?, 4).ok();
        let bottom = space.read_addr(stack.checked_add(fields.bottom)?).ok()?;
        let size = half(fields.size).filter(|size| (1..MAX_STACK).contains(size))?;
        let guard = half(fields.size.checked_add(4)?)?;
        let context = space.read_addr(stack.checked_add(fields.context)?).ok()?;
        let range = AddrRange::new(Addr::new(bottom.get().checked_sub(size)?), bottom);
        range.contains(context).then_some(Self { range, guard, context })
    }

    /// The stack pointer with which the own stack of a worker was left, of which nothing else is known.
    pub fn context_of(space: &dyn AddressSpace, layout: &Layout, meta: &Meta) -> Option<Addr> {
        let at = meta.stack.checked_add(layout.of_stack.context)?;
        space.read_addr(at).ok().filter(|context| context.get() != 0)
    }

    /// The stack with the guard below it, in which a stack pointer lies that went too far.
    pub fn with_guard(&self) -> AddrRange {
        let start = self.range.start.get().saturating_sub(self.guard);
        AddrRange::new(Addr::new(start), self.range.end)
    }
}
