//! bthreads: the user-mode threads of bRPC, `M` of them on `N` threads of the system.
//!
//! Facts come from apache/brpc, `src/bthread/{task_meta.h,task_group.cpp,stack.h,context.cpp,butex.cpp}` and
//! `src/butil/resource_pool_inl.h`, releases 0.9 to 1.17 and the state of 2026-08. Each bthread has a
//! `bthread::TaskMeta` in a pool whose statics are plain data; the registers of one that does not run lie on
//! its own stack. Everything is proven by what points back at it before it is believed.

mod calibrate;
mod dwarf;
mod layout;
mod meta;
mod pool;
mod probe;
mod remained;
mod running;
mod state;
mod timer;
mod wait;

use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, AddrRange, AddressSpace, CodeAddr, Svma};
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

pub use probe::PROBE;
pub use state::State;
pub use wait::Wait;

use layout::Layout;
use meta::{Meta, StackArea};
use pool::Pool;
use running::{Group, Running, TaskStack};
use state::Signs;

use crate::{Host, Identity, Runtime, Task, TaskStart, fcontext, thread_stack};

/// bRPC's scheduler in one module of a process.
pub struct Bthreads {
    identity: Identity,
    pool: Pool,
    /// That of the timers, if it was found.
    timers: Option<Pool>,
    layout: Layout,
    /// The function that every stack of a bthread begins with, `bthread::TaskGroup::task_runner`.
    runner: Option<Addr>,
    /// The thread-local variable that points to a worker's `bthread::TaskGroup`, by its offset.
    worker: Option<Svma>,
    known: OnceLock<PoolContents>,
}

/// What there is in a pool.
struct PoolContents {
    all: Arc<[Bthread]>,
    workers: Arc<[Bthread]>,
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
    /// Where its registers were saved, or would be, if it has run.
    context: Option<Addr>,
}

impl Bthreads {
    /// All bthreads that have not ended, in the order of their slots. They are looked for once.
    pub fn all(&self, host: &dyn Host) -> Arc<[Bthread]> {
        self.known(host).all.clone()
    }

    /// What workers do when they run no bthread, of those that run one.
    pub fn workers(&self, host: &dyn Host) -> Arc<[Bthread]> {
        self.known(host).workers.clone()
    }

    fn known(&self, host: &dyn Host) -> &PoolContents {
        self.known.get_or_init(|| self.enumerate(host))
    }

    fn enumerate(&self, host: &dyn Host) -> PoolContents {
        let space = host.space();
        let items = self.pool.items(space, self.layout.size);
        let metas = items.filter_map(|item| Meta::load(space, &self.layout, item));
        let (metas, others): (Vec<Meta>, Vec<Meta>) = metas.partition(Meta::is_bthread);
        let joined = metas.iter().map(|meta| (meta.version_butex, meta.id)).collect();
        let found = BthreadSurvey { running: self.running(host, &metas), joined };
        let all = metas.iter().map(|meta| self.bthread(host, meta, &found)).collect();
        let workers = others.iter().filter(|meta| meta.is_worker());
        PoolContents { all, workers: workers.filter_map(|meta| self.parked(host, meta)).collect() }
    }

    fn running(&self, host: &dyn Host, metas: &[Meta]) -> Running {
        let stack = |meta: &Meta| {
            let area = StackArea::load(host.space(), &self.layout, meta)?;
            Some(TaskStack { range: area.with_guard(), meta: meta.at })
        };
        let mut stacks: Vec<TaskStack> = metas.iter().filter_map(stack).collect();
        stacks.sort_by_key(|stack| stack.range.end);
        let group_of =
            |thread| Some(Group { at: self.group_of(host, thread)?, current: self.layout.current });
        Running::of(host, &stacks, &group_of)
    }

    /// The `bthread::TaskGroup` of a worker.
    fn group_of(&self, host: &dyn Host, thread: Tid) -> Option<Addr> {
        let module = host.module_at(self.pool.group_count)?;
        let group = host.thread_local(thread, module, self.worker?)?;
        host.space().read_addr(group).ok().filter(|group| group.get() != 0)
    }

    fn bthread(&self, host: &dyn Host, meta: &Meta, found: &BthreadSurvey) -> Bthread {
        let space = host.space();
        let area = StackArea::load(space, &self.layout, meta);
        let signs = Signs {
            on_stack: found.running.on_stack(meta.at),
            current: found.running.current(meta.at),
            left: found.running.left(meta.at),
            is_new: area.as_ref().is_some_and(|area| self.is_new(space, meta, area)),
            is_woken: Wait::is_over(space, meta) || self.is_slept(space, meta),
        };
        let state = State::of(meta, signs);
        let waits_on = match state {
            State::Waiting => Wait::of(space, meta, &found.joined),
            _ => None,
        };
        Bthread {
            waits_on,
            stack: area.as_ref().map(|area| area.range),
            context: area.map(|area| area.context).filter(|_| !signs.is_new),
            ..self.plain(space, meta, state)
        }
    }

    /// Whether the timer has gone off by which a bthread sleeps, and it has not run since.
    fn is_slept(&self, space: &dyn AddressSpace, meta: &Meta) -> bool {
        let over = self.timers.map(|timers| timer::is_over(space, &timers, meta.sleep));
        meta.sleep != 0 && over.flatten() == Some(true)
    }

    /// What a `bthread::TaskMeta` says by itself.
    fn plain(&self, space: &dyn AddressSpace, meta: &Meta, state: State) -> Bthread {
        Bthread {
            id: meta.id,
            meta: meta.at,
            name: meta.name(space, &self.layout),
            entry: meta.entry,
            argument: meta.argument,
            state,
            waits_on: None,
            switches: meta.switches,
            stack: None,
            context: None,
        }
    }

    /// What a worker left to run a bthread: it is on another stack than its own, on which it left off.
    fn parked(&self, host: &dyn Host, meta: &Meta) -> Option<Bthread> {
        let context = StackArea::context_of(host.space(), &self.layout, meta)?;
        let stack = host.range_at(context)?.range;
        let is_left = |thread: &Tid| {
            let block = host.thread_pointer(*thread);
            let at = thread_stack::pointer(host, *thread);
            block.is_some_and(|block| stack.contains(block) && context < block)
                && at.is_some_and(|at| !stack.contains(at))
        };
        let thread = host.threads().into_iter().find(is_left)?;
        Some(Bthread {
            stack: Some(stack),
            context: Some(context),
            ..self.plain(host.space(), meta, State::Parked(thread))
        })
    }

    /// Whether a stack was made and never entered: nobody was switched away from it, or its saved program
    /// counter is where all begin.
    fn is_new(&self, space: &dyn AddressSpace, meta: &Meta, area: &StackArea) -> bool {
        if meta.switches == Some(0) && meta.waiter.get() == 0 && meta.sleep == 0 {
            return true;
        }
        let saved = fcontext::saved(space, area.context, area.range.end);
        self.runner.is_some() && saved.map(|regs| regs.pc()) == self.runner
    }

    fn task(host: &dyn Host, bthread: &Bthread) -> Task {
        let runs = matches!(bthread.state, State::Running(_));
        let waits_on = match bthread.state {
            State::Parked(thread) => Some(format!("thread {thread}, which runs a bthread")),
            _ => bthread.waits_on.as_ref().map(|wait| wait.to_string()),
        };
        Task {
            runtime: probe::NAME,
            id: bthread.id,
            name: bthread.name.clone(),
            state: bthread.state.as_str().into(),
            waits_on: waits_on.map(Into::into),
            until: None,
            entry: Some(bthread.entry).filter(|entry| entry.get() != 0),
            thread: bthread.state.thread().filter(|_| runs),
            stack: bthread.stack,
            start: Self::start(host.space(), bthread),
        }
    }

    /// Where the stack of a bthread begins. The saved registers of one that runs are old.
    fn start(space: &dyn AddressSpace, bthread: &Bthread) -> TaskStart {
        let (stack, context) = match (bthread.state, bthread.stack, bthread.context) {
            (State::Running(_), ..) => return TaskStart::Running,
            (State::Created, ..) | (State::Entered(_), Some(_), None) => {
                return TaskStart::Unknown("it has not run yet".into());
            }
            (State::OnWorker, ..) => {
                return TaskStart::Unknown("it runs on the stack of a worker, if it does".into());
            }
            (_, Some(stack), Some(context)) => (stack, context),
            _ => return TaskStart::Unknown("its stack cannot be read".into()),
        };
        match fcontext::saved(space, context, stack.end) {
            Some(regs) => TaskStart::Suspended {
                pc: CodeAddr::Return(regs.pc()),
                regs: (&regs).into(),
                bottom: None,
            },
            None => TaskStart::Unknown(
                format!("its saved registers, at {:x}, cannot be read", context.get()).into(),
            ),
        }
    }
}

/// What is known before single bthreads are looked at.
struct BthreadSurvey {
    running: Running,
    /// Whose end a butex stands for.
    joined: FxHashMap<Addr, u64>,
}

impl Runtime for Bthreads {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        let known = self.known(host);
        let bthreads = known.all.iter().chain(&*known.workers);
        bthreads.map(|bthread| Self::task(host, bthread)).collect()
    }
}
