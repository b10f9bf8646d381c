//! bthreads: the user-mode threads of bRPC, `M` of them on `N` threads of the system.
//!
//! Facts come from apache/brpc, `src/bthread/{task_meta.h,task_group.cpp,stack.h,context.cpp,butex.cpp}` and
//! `src/butil/resource_pool_inl.h`, releases 0.9 to 1.17 and the state of 2026-08. Each bthread has a
//! `bthread::TaskMeta` in a pool whose statics are plain data; the registers of one that does not run lie on
//! its own stack. Everything is proven by what points back at it before it is believed.

mod calibrate;
mod context;
mod dwarf;
mod layout;
mod meta;
mod pool;
mod probe;
mod running;
mod state;
mod wait;

use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddrRange, AddressSpace, CodeAddr};
use rustc_hash::FxHashMap;

pub use probe::{PROBE, is_runner};
pub use state::State;
pub use wait::Wait;

use layout::Layout;
use meta::{Meta, StackArea};
use pool::Pool;
use running::Running;

use crate::{Host, Identity, Runtime, Task, TaskStart};

/// bRPC's scheduler in one module of a process.
pub struct Bthreads {
    identity: Identity,
    pool: Pool,
    layout: Layout,
    /// The function that every stack of a bthread begins with, `bthread::TaskGroup::task_runner`.
    runner: Option<Addr>,
    all: OnceLock<Arc<[Bthread]>>,
}

/// A bthread that has not ended.
#[derive(Clone, Debug)]
pub struct Bthread {
    /// Its `bthread_t`.
    pub id: u64,
    /// Its `bthread::TaskMeta`.
    pub meta: Addr,
    /// The name in its attributes, if it was given one.
    pub name: Option<Arc<str>>,
    /// The function that it began with.
    pub entry: Addr,
    /// What that function was given.
    pub argument: Addr,
    /// What it does.
    pub state: State,
    /// What it waits for.
    pub waits_on: Option<Wait>,
    /// How often it was switched to, where the layout tells.
    pub switches: Option<u64>,
    /// Its stack, from the lowest address that may be used; `None` before it first ran.
    pub stack: Option<AddrRange>,
    /// Where its registers were saved, or would be.
    context: Option<Addr>,
}

impl Bthreads {
    /// All bthreads that have not ended, in the order of their slots. They are looked for once.
    pub fn all(&self, host: &dyn Host) -> Arc<[Bthread]> {
        self.all.get_or_init(|| self.enumerate(host).into()).clone()
    }

    fn enumerate(&self, host: &dyn Host) -> Vec<Bthread> {
        let running = Running::of(host);
        let metas: Vec<Meta> = self.live(host.space()).collect();
        let joined = metas.iter().map(|meta| (meta.version_butex, meta.id)).collect();
        metas.into_iter().map(|meta| self.bthread(host, meta, &running, &joined)).collect()
    }

    /// What the pool holds of tasks that live; a worker's own stack is none.
    fn live<'a>(&'a self, space: &'a dyn AddressSpace) -> impl Iterator<Item = Meta> + 'a {
        let metas = self.pool.items(space, self.layout.size);
        let metas = metas.filter_map(move |item| Meta::load(space, &self.layout, item));
        metas.filter(Meta::is_bthread)
    }

    fn bthread(
        &self,
        host: &dyn Host,
        meta: Meta,
        running: &Running,
        joined: &FxHashMap<Addr, u64>,
    ) -> Bthread {
        let space = host.space();
        let area = StackArea::load(space, &self.layout, &meta);
        let runs = area.as_ref().and_then(|area| running.within(area.with_guard()));
        let is_new = area.as_ref().is_some_and(|area| self.is_new(space, &meta, area));
        let state = State::of(&meta, runs, is_new);
        let waits_on = match state {
            State::Waiting => Wait::of(space, &meta, joined),
            _ => None,
        };
        Bthread {
            id: meta.id,
            meta: meta.at,
            name: meta.name(space, &self.layout),
            entry: meta.entry,
            argument: meta.argument,
            state,
            waits_on,
            switches: meta.switches,
            stack: area.as_ref().map(|area| area.range),
            context: area.map(|area| area.context),
        }
    }

    /// Whether a stack was made and never entered: nobody was switched away from it, or its saved program
    /// counter is where all begin.
    fn is_new(&self, space: &dyn AddressSpace, meta: &Meta, area: &StackArea) -> bool {
        if meta.switches == Some(0) && meta.waiter.get() == 0 && meta.sleep == 0 {
            return true;
        }
        let saved = context::saved(space, area);
        self.runner.is_some() && saved.map(|regs| regs.pc()) == self.runner
    }

    fn task(host: &dyn Host, bthread: &Bthread) -> Task {
        Task {
            runtime: probe::NAME,
            id: bthread.id,
            name: bthread.name.clone(),
            state: bthread.state.as_str().into(),
            waits_on: bthread.waits_on.as_ref().map(|wait| wait.to_string().into()),
            entry: Some(bthread.entry),
            thread: bthread.state.thread(),
            start: Self::start(host.space(), bthread),
        }
    }

    /// Where the stack of a bthread begins. The saved registers of one that runs are old.
    fn start(space: &dyn AddressSpace, bthread: &Bthread) -> TaskStart {
        let (range, context) = match (bthread.state, bthread.stack, bthread.context) {
            (State::Running(_), ..) => return TaskStart::Running,
            (State::Created, ..) => return TaskStart::Unknown("it has not run yet".into()),
            (State::OnWorker, ..) => {
                return TaskStart::Unknown("it runs on the stack of a worker, if it does".into());
            }
            (_, Some(stack), Some(context)) => (stack, context),
            _ => return TaskStart::Unknown("its stack cannot be read".into()),
        };
        match context::saved(space, &StackArea { range, guard: 0, context }) {
            Some(regs) => {
                TaskStart::Suspended { pc: CodeAddr::Return(regs.pc()), regs: Box::new(regs) }
            }
            None => TaskStart::Unknown(
                format!("its saved registers, at {:x}, cannot be read", context.get()).into(),
            ),
        }
    }
}

impl Runtime for Bthreads {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        self.all(host).iter().map(|bthread| Self::task(host, bthread)).collect()
    }
}
