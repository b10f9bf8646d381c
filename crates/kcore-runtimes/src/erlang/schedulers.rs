//! Schedulers: the threads that run processes (`ErtsSchedulerData` of `erl_process.h`).

use kcore_mem::Addr;
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

use super::{memory::Memory, roots::Roots};
use crate::Host;

/// Schedulers of one kind, at most.
const MAX_SCHEDULERS: u64 = 1024;
/// `tid`, `current_process`, `no`, `dirty_no`.
const THREAD: u64 = 32;
const PROCESS: u64 = 168;
const NUMBER: u64 = 184;
const DIRTY_NUMBER: u64 = 192;
/// What kinds there are, in the order of [`Roots::schedulers`].
const KINDS: [&str; 3] = ["scheduler", "dirty_cpu", "dirty_io"];

/// A scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// `scheduler`, `dirty_cpu` or `dirty_io`.
    pub kind: &'static str,
    /// Its number, from 1.
    pub number: u64,
    /// Where its `ErtsSchedulerData` lies.
    pub at: Addr,
    /// Its thread; `None` if it is not among those of the process.
    pub thread: Option<Tid>,
    /// Where the process lies that it runs.
    pub process: Option<Addr>,
}

impl Scheduler {
    /// All of them.
    pub fn all(host: &dyn Host, memory: &Memory<'_>, roots: &Roots) -> Vec<Self> {
        let threads = host.threads().into_iter();
        let threads: FxHashMap<Addr, Tid> =
            threads.filter_map(|tid| Some((host.thread_pointer(tid)?, tid))).collect();
        let mut found = Vec::new();
        for (kind, (data, count)) in KINDS.into_iter().zip(&roots.schedulers) {
            let count = memory.word(*count, 0).unwrap_or_default().min(MAX_SCHEDULERS);
            let first = memory.pointer(*data, 0).filter(|_| count > 0);
            let all = first.into_iter().flat_map(|first| {
                (0..count).filter_map(move |index| {
                    let offset = index.checked_mul(memory.layout.scheduler_stride)?;
                    first.checked_add(offset)
                })
            });
            found.extend(all.filter_map(|at| Self::load(memory, &threads, kind, at)));
        }
        found
    }

    fn load(
        memory: &Memory<'_>,
        threads: &FxHashMap<Addr, Tid>,
        kind: &'static str,
        at: Addr,
    ) -> Option<Self> {
        let number = if kind == KINDS[0] { NUMBER } else { DIRTY_NUMBER };
        let number = memory.word(at, number).filter(|it| (1..=MAX_SCHEDULERS).contains(it))?;
        let thread = threads.get(&memory.pointer(at, THREAD)?).copied();
        Some(Self { kind, number, at, thread, process: memory.pointer(at, PROCESS) })
    }
}
