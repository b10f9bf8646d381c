//! The scheduler of a thread, and the fibers that it keeps.

use kcore_mem::{Addr, AddressSpace, Svma};
use kcore_unwind::Tid;

use super::{
    context::{Context, Kind},
    layout::{LAYOUTS, Layout, context, scheduler},
};
use crate::{Host, HostModule};

/// Words of a module's thread-local variables that are looked at where no symbol says which is the one.
const WORDS: u64 = 64;
/// Fibers of one scheduler, at most.
const MAX_FIBERS: usize = 1 << 20;

/// A `boost::fibers::scheduler` that was proven: what it points at points back.
#[derive(Clone, Copy, Debug)]
pub struct Scheduler {
    /// Where it lies.
    pub at: Addr,
    /// The thread whose it is.
    pub thread: Tid,
    /// The fiber that the thread runs, by `context_initializer::active_`.
    pub active: Addr,
    /// Its `boost::fibers::algo::algorithm`.
    pub algorithm: Addr,
    /// The layout by which all that holds.
    pub layout: &'static Layout,
    /// The fiber that the thread is on its own stack.
    pub main: Addr,
    dispatcher: Addr,
}

impl Scheduler {
    /// That of a thread, by its variables of a module: `active` is the offset of `active_` among them, if that
    /// is known. `tables` are the tables of virtual functions that schedulers begin with.
    pub fn of_thread(
        host: &dyn Host,
        module: &dyn HostModule,
        thread: Tid,
        active: Option<Svma>,
        tables: &[Addr],
    ) -> Option<Self> {
        let first = active.unwrap_or(Svma::new(0));
        let block = host.thread_local(thread, module, first)?;
        let count = if active.is_some() { 1 } else { WORDS };
        let words = (0..count).filter_map(|index| block.checked_add(index.checked_mul(8)?));
        let mut contexts = words.filter_map(|at| host.space().read_addr(at).ok());
        contexts.find_map(|context| Self::of_active(host.space(), thread, context, tables))
    }

    /// That of the fiber that a thread runs.
    fn of_active(
        space: &dyn AddressSpace,
        thread: Tid,
        active: Addr,
        tables: &[Addr],
    ) -> Option<Self> {
        if active.get() == 0 || !active.get().is_multiple_of(8) {
            return None;
        }
        LAYOUTS.iter().find_map(|layout| {
            let at = space.read_addr(active.checked_add(layout.scheduler)?).ok()?;
            let own = Self::load(space, thread, active, at, layout)?;
            tables.contains(&space.read_addr(at).ok()?).then_some(own)
        })
    }

    fn load(
        space: &dyn AddressSpace,
        thread: Tid,
        active: Addr,
        at: Addr,
        layout: &'static Layout,
    ) -> Option<Self> {
        let field = |offset: u64| space.read_addr(at.checked_add(offset)?).ok();
        let found = Self {
            at,
            thread,
            active,
            algorithm: field(scheduler::ALGORITHM)?,
            layout,
            main: field(scheduler::MAIN)?,
            dispatcher: field(scheduler::DISPATCHER)?,
        };
        let is_one = |place: Addr, kind| {
            let context = Context::load(space, layout, place)?;
            (context.kind == kind && context.scheduler == at).then_some(())
        };
        // One of them may be damaged.
        let proof = is_one(found.main, Kind::Main);
        proof.or_else(|| is_one(found.dispatcher, Kind::Dispatcher)).map(|()| found)
    }

    /// The fibers that it keeps, its own two first. Says with them whether its list was damaged, so that some
    /// are missing.
    pub fn contexts(&self, space: &dyn AddressSpace) -> (Vec<Context>, bool) {
        let own = [self.main, self.dispatcher].into_iter();
        let (workers, is_damaged) = self.workers(space);
        let load = |at| Context::load(space, self.layout, at);
        let mut contexts: Vec<Context> = own.chain(workers).filter_map(load).collect();
        let remote = self.remote(space);
        for context in &mut contexts {
            context.is_ready |= remote == Some(context.at);
        }
        (contexts, is_damaged)
    }

    /// What is in its `worker_queue_`, a ring of both directions. Where links are damaged, it is followed from
    /// both ends as far as they lead back.
    fn workers(&self, space: &dyn AddressSpace) -> (Vec<Addr>, bool) {
        let Some(head) = self.at.checked_add(scheduler::WORKERS) else { return (Vec::new(), true) };
        let (mut nodes, is_whole) = follow(space, head, Direction::Forward);
        if !is_whole {
            let (behind, _) = follow(space, head, Direction::Backward);
            nodes.extend(behind.into_iter().rev());
        }
        let of_node = |node: Addr| node.get().checked_sub(self.layout.worker_hook).map(Addr::new);
        (nodes.into_iter().filter_map(of_node).collect(), !is_whole)
    }

    /// The last of those that other threads made ready: it alone has a hook that points nowhere.
    fn remote(&self, space: &dyn AddressSpace) -> Option<Addr> {
        let last = self.at.checked_add(scheduler::REMOTE_QUEUE.saturating_add(16))?;
        let hook = space.read_addr(last).ok()?;
        hook.get().checked_sub(context::REMOTE_HOOK).map(Addr::new)
    }
}

/// The way along a ring.
#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Backward,
}

impl Direction {
    /// Where a node has its links, in bytes: the one that is followed, and the one that leads back.
    const fn links(self) -> (u64, u64) {
        match self {
            Self::Forward => (0, 8),
            Self::Backward => (8, 0),
        }
    }
}

/// The nodes of a ring behind its head, no further than links lead back. Says with them whether the ring closes.
fn follow(space: &dyn AddressSpace, head: Addr, direction: Direction) -> (Vec<Addr>, bool) {
    let (onward, back) = direction.links();
    let link = |node: Addr, offset: u64| space.read_addr(node.checked_add(offset)?).ok();
    let (mut found, mut node) = (Vec::new(), head);
    while found.len() < MAX_FIBERS {
        let next = link(node, onward).filter(|next| link(*next, back) == Some(node));
        let Some(next) = next else { return (found, false) };
        if next == head {
            return (found, true);
        }
        found.push(next);
        node = next;
    }
    (found, false)
}
