//! Which thread runs which task.

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{Frame, Tid};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cell::{TaskCell, TaskState};
use crate::Host;

/// Functions that run a task, by how their names begin and end.
const POLLS: [(&str, &str); 2] = [
    ("tokio::runtime::task::harness::Harness<", ">::poll"),
    ("tokio::runtime::task::raw::poll", ""),
];
/// Bytes of a frame that are looked at.
const MAX_FRAME: u64 = 1 << 16;
/// Where a function saves registers of its caller: return address, frame pointer and those that it has to keep.
const SAVED: u64 = 8 * 8;
/// Frames of a thread that are looked at.
const MAX_FRAMES: usize = 512;

/// The threads that run tasks, by the task: the frame of the function that runs it, or one below, has its address.
pub fn threads(host: &dyn Host, cells: &[TaskCell]) -> FxHashMap<Addr, Tid> {
    let running = cells.iter().filter(|cell| cell.state == TaskState::Running);
    let running: FxHashSet<Addr> = running.map(|cell| cell.at).collect();
    if running.is_empty() {
        return FxHashMap::default();
    }
    let mut found: FxHashMap<Addr, Option<Tid>> = FxHashMap::default();
    for tid in host.threads() {
        if let Some(task) = run_by(host, tid, &running) {
            // Two threads cannot run one task: which of them does is not known then.
            found.entry(task).and_modify(|it| *it = None).or_insert(Some(tid));
        }
    }
    found.into_iter().filter_map(|(task, tid)| Some((task, tid?))).collect()
}

fn run_by(host: &dyn Host, tid: Tid, running: &FxHashSet<Addr>) -> Option<Addr> {
    let frames = host.frames(tid);
    let frames = frames.get(..MAX_FRAMES.min(frames.len()))?;
    let is_poll = |frame: &Frame| {
        let name = host.function_at(frame.pc);
        name.is_some_and(|name| POLLS.iter().any(|(start, end)| is_between(&name, start, end)))
    };
    let poll = frames.iter().position(is_poll)?;
    let own =
        frames.get(poll).and_then(|frame| frame.sp.zip(frame.cfa)).filter(|(sp, cfa)| sp < cfa);
    let own = own.and_then(|(sp, cfa)| only(host, AddrRange::new(sp, cfa), running));
    // What it calls keeps the address where that was in a register.
    let callee = || {
        let end = frames.get(poll.checked_sub(1)?)?.cfa?;
        let start = Addr::new(end.get().checked_sub(SAVED)?);
        only(host, AddrRange::new(start, end), running)
    };
    own.or_else(callee)
}

fn is_between(name: &str, start: &str, end: &str) -> bool {
    name.starts_with(start) && name.ends_with(end)
}

/// The one task whose address a part of a stack holds. What lies deeper in may be left of others.
fn only(host: &dyn Host, part: AddrRange, running: &FxHashSet<Addr>) -> Option<Addr> {
    let bytes = host.space().read_held(part.start, part.len().min(MAX_FRAME));
    let words = bytes.as_chunks::<8>().0.iter().map(|word| Addr::new(u64::from_le_bytes(*word)));
    let mut found = words.filter(|word| running.contains(word));
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}
