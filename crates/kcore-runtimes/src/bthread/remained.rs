//! What a worker has yet to do for the task that it left: only when it is on another stack may others see that
//! task where it waits.

use kcore_mem::Addr;
use kcore_unwind::Tid;

use crate::Host;

/// Words of a `bthread::TaskGroup` that are looked at. `_last_context_remained` and its argument lie at 48 up to
/// release 1.11, at 56 up to 1.13, and later behind counters whose size depends on the machine.
const WORDS: u64 = 48;
/// Frames from where a thread was stopped to what the scheduler calls.
const MAX_FRAMES: usize = 64;
/// The functions that call them, when they come from another stack.
const CALLERS: &[&str] = &["sched_to", "task_runner"];
/// The functions that `src/bthread/task_group.cpp` and `src/bthread/butex.cpp` leave to be done so, without
/// their name spaces.
const REMAINED: &[&str] = &[
    "_add_sleep_event",
    "wait_for_butex",
    "ready_to_run_in_worker",
    "ready_to_run_in_worker_ignoresignal",
    "priority_to_run",
];

/// The task that a thread left, and has more to do for: a function is to be called yet, or is being called,
/// whose argument lies on that task's stack. `holder` is the task of a stack that holds an address, but for that
/// which the thread is on.
pub fn left(
    host: &dyn Host,
    thread: Tid,
    group: Addr,
    holder: &dyn Fn(Addr) -> Option<Addr>,
) -> Option<Addr> {
    let word = |index: u64| host.space().read_addr(group.checked_add(index.checked_mul(8)?)?).ok();
    let pairs = (0..WORDS).filter_map(|index| Some((word(index)?, word(index.checked_add(1)?)?)));
    let mut found = pairs.filter_map(|(function, argument)| Some((function, holder(argument)?)));
    let (_, task) = found.find(|(function, _)| match function.get() {
        0 => is_about_it(host, thread),
        _ => host.range_at(*function).is_some_and(|mapping| mapping.executable),
    })?;
    Some(task)
}

/// Whether a thread is in what was left to do, or in who calls that: the scheduler takes note of it before it
/// calls.
fn is_about_it(host: &dyn Host, thread: Tid) -> bool {
    let frames = host.frames(thread);
    let functions = frames.iter().take(MAX_FRAMES).map(|frame| host.function_at(frame.pc));
    let mut names = functions.enumerate().filter_map(|(index, function)| Some((index, function?)));
    names.any(|(index, function)| {
        let name = function.rsplit("::").next().unwrap_or_default();
        REMAINED.contains(&name) || (index == 0 && CALLERS.contains(&name))
    })
}
