//! Stopping a process for as short as can be, and copying what it is then.
//!
//! All that can be done before is done before: threads are listed and seized, which does not stop
//! them, and buffers are touched. Then every thread is asked to stop, those that wait before those that
//! run; its registers are read as soon as it stands still, and once all of them stand still the used part
//! of each stack is copied. The last to be stopped is the first to go on. Several tracers share the
//! threads, since a thread is traced by the one thread that seized it.

mod beside;
mod copied;
mod deadline;
mod gate;
mod held;
pub(crate) mod machine;
mod order;
mod pointers;
mod rolling;
mod stacks;
mod tracee;
mod tracer;
mod whole;

use std::{collections::HashMap, sync::atomic::AtomicBool, time::Duration};

pub use deadline::Deadline;
use deadline::after;
pub use held::{StoppedProcess, hold};

use kcore_elf::core_file::MapLine;
use kcore_mem::{Addr, AddrRange};

use crate::{
    Instants, LiveError, LiveMemory, Moment, Process, SnapThread, Snapshot, TaskStat,
    sys::signals::PutOff,
};

pub(crate) use machine::{GENERAL_SIZE, REGISTERS};
use order::Order;
pub(crate) use tracer::Refused;

/// Where a thread is: its program counter and its stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    /// The program counter.
    pub pc: Addr,
    /// The stack pointer.
    pub sp: Addr,
}

impl Standing {
    /// By a set of general registers.
    pub fn of_registers(general: &[u8]) -> Option<Self> {
        let pc = machine::program_counter(general).map(Addr::new)?;
        Some(Self { pc, sp: machine::stack_pointer(general).map(Addr::new)? })
    }
}

/// How much of stacks is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackLimit {
    /// Bytes of one stack, from its stack pointer on.
    pub each: u64,
    /// Bytes of all stacks together; what is over the first part of each is left out then.
    pub together: u64,
}

impl Default for StackLimit {
    /// As much as the system gives the stack of a thread. All together are less than a stack each of
    /// that size: a stack pointer may stand in memory that is no stack, of any size.
    fn default() -> Self {
        Self { each: 8 << 20, together: 64 << 20 }
    }
}

impl StackLimit {
    /// As much of each stack as is wanted, however much that is together.
    pub const fn of_each(bytes: u64) -> Self {
        Self { each: bytes, together: u64::MAX }
    }
}

/// What is to be copied, and how.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// The process.
    pub process: &'a Process,
    /// Its memory.
    pub memory: &'a LiveMemory,
    /// Its mappings, by which the end of a stack is known.
    pub maps: &'a [MapLine],
    /// The threads that are stopped; `None` is all of them.
    pub threads: Option<&'a [i32]>,
    /// Memory that is copied besides stacks.
    pub memory_too: &'a [AddrRange],
    /// Whether pages to which words of the stacks point are copied as well.
    pub follow: bool,
    /// How much of stacks is copied.
    pub stacks: StackLimit,
    /// Threads up to whose number registers for floating-point numbers are read as well: each takes
    /// two more system calls.
    pub floating_up_to: usize,
    /// How long threads are waited for: those that wait themselves, and then those that run.
    pub timeout: Duration,
    /// How long memory is copied then. Threads that run stand still for both together at most, and for
    /// what one call of the system takes.
    pub copy_timeout: Duration,
    /// How long the process stands still at most, whatever is missing then: from the moment when its first
    /// thread is asked to stop. Of a rolling snapshot it is so for each thread.
    pub budget: Duration,
    /// Set when somebody wants the process to go on at once.
    pub stop: Option<&'a AtomicBool>,
    /// Thread by thread, each at an instant of its own.
    pub rolling: bool,
    /// What [`hold`] waits for before it stops the process.
    pub at: Option<Moment<'a>>,
}

impl<'a> Plan<'a> {
    /// Until when the process may stand still that is stopped now.
    pub(crate) fn deadline(&self) -> Deadline<'a> {
        Deadline::after(self.budget, self.stop)
    }
}

/// Stops the threads, copies, and lets them go.
///
/// # Errors
/// When the process may not be traced, has ended, or has none of the threads that were asked for, or
/// none of them stopped in time.
pub fn capture(plan: &Plan<'_>) -> Result<Snapshot, LiveError> {
    let before = plan.process.read("auxv", "its auxiliary vector")?;
    let tids = tids_of(plan)?;
    // The state of a stopped thread is only that it is stopped.
    let said = said_of(plan, &tids);
    if !plan.maps.is_empty() {
        plan.memory.set_maps(plan.maps);
    }
    let taken = {
        let _put_off = PutOff::all();
        let _standing = plan.memory.standing();
        let taken = if plan.rolling {
            rolling::capture(plan, &tids)
        } else {
            whole::capture(plan, &Order::of(&tids, &said))
        };
        let left = match &taken {
            Ok(snapshot) => snapshot.late_threads(),
            Err(_) => plan.process.task_ids().unwrap_or_default(),
        };
        plan.process.wait_until_free(&left);
        taken
    };
    // A program that was started in between has other memory than the mappings say, and its threads
    // may not be traced while it starts.
    let is_other = plan.process.read("auxv", "its auxiliary vector").ok() != Some(before)
        || plan.maps.first().is_some_and(|map| !plan.memory.is_there(map.range.start));
    if is_other || (taken.is_err() && tids_of(plan).ok() != Some(tids)) {
        return Err(LiveError::Gone(plan.process.pid()));
    }
    let mut snapshot = taken?;
    tell_more(plan, &said, &mut snapshot);
    Ok(snapshot)
}

/// What the system says of threads while they run.
fn said_of(plan: &Plan<'_>, tids: &[i32]) -> HashMap<i32, ThreadStatus> {
    tids.iter().filter_map(|tid| Some((*tid, ThreadStatus::of(plan.process, *tid)?))).collect()
}

/// Adds to threads what the system said of them before they were stopped.
fn tell_more(plan: &Plan<'_>, said: &HashMap<i32, ThreadStatus>, snapshot: &mut Snapshot) {
    for thread in &mut snapshot.threads {
        let meanwhile = || ThreadStatus::of(plan.process, thread.tid);
        let Some(said) = said.get(&thread.tid).cloned().or_else(meanwhile) else { continue };
        thread.inner_tid = said.inner_tid.unwrap_or(thread.inner_tid);
        thread.stat = Some(said.stat);
    }
    snapshot.threads.sort_by_key(|thread| order(plan, thread));
}

/// What the system says of a thread while it runs.
#[derive(Clone, Debug)]
struct ThreadStatus {
    stat: TaskStat,
    inner_tid: Option<u32>,
}

impl ThreadStatus {
    fn of(process: &Process, tid: i32) -> Option<Self> {
        Some(Self { stat: process.task_stat(tid)?, inner_tid: process.inner_id(tid) })
    }
}

/// Of what instants threads are that stand still together.
const fn instants_of(plan: &Plan<'_>) -> Instants {
    if plan.threads.is_some() { Instants::OneOfChosen } else { Instants::One }
}

/// The first thread of the process first.
fn order(plan: &Plan<'_>, thread: &SnapThread) -> (bool, i32) {
    (thread.tid != plan.process.pid().get(), thread.tid)
}

fn tids_of(plan: &Plan<'_>) -> Result<Vec<i32>, LiveError> {
    let all = plan.process.task_ids()?;
    let Some(wanted) = plan.threads else { return Ok(all) };
    let found: Vec<i32> = wanted.iter().copied().filter(|tid| all.contains(tid)).collect();
    if found.is_empty() {
        let names: Vec<String> = wanted.iter().take(5).map(ToString::to_string).collect();
        let wanted = names.join(", ");
        return Err(LiveError::NoThread { pid: plan.process.pid(), wanted });
    }
    Ok(found)
}
