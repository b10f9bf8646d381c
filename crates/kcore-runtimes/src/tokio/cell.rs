//! One task in memory: `Cell`, `Header` of `tokio/src/runtime/task/core.rs`, and `state.rs`.

use kcore_mem::{Addr, AddressSpace};
use rustc_hash::FxHashMap;

use super::vtable::TaskVtable;

/// Words of a head.
const NEXT: u64 = 8;
const VTABLE: u64 = 16;
const OWNER: u64 = 24;
/// Where tasks may begin: `Cell` is aligned to what caches are thought to fetch together.
pub const ALIGNMENT: u64 = 64;

/// Bits of a state, and how far its count of references is shifted (`state.rs`).
const RUNNING: u64 = 1;
const COMPLETE: u64 = 1 << 1;
const NOTIFIED: u64 = 1 << 2;
const CANCELLED: u64 = 1 << 5;
const REFERENCES: u32 = 6;
/// More references, lists or tasks than any process has.
const MAX_REFERENCES: u64 = 1 << 24;
const MAX_OWNER: u64 = 1 << 40;

/// What a task is doing, as the runtime has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// A thread runs it.
    Running,
    /// It is to run next.
    Ready,
    /// It was told to end, and did not run since.
    Cancelled,
    /// It waits.
    Suspended,
    /// It ended, and its result was not taken.
    Complete,
}

impl TaskState {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ready => "ready",
            Self::Cancelled => "cancelled",
            Self::Suspended => "suspended",
            Self::Complete => "complete",
        }
    }

    /// What the bits of a state say; `None` of what no task has: one without references was freed.
    pub const fn of(bits: u64) -> Option<Self> {
        let references = bits >> REFERENCES;
        if references == 0 || references > MAX_REFERENCES {
            return None;
        }
        let is_running = has_bit(bits, RUNNING);
        match (is_running, has_bit(bits, COMPLETE)) {
            (true, true) => None,
            (true, false) => Some(Self::Running),
            (false, true) => Some(Self::Complete),
            (false, false) if has_bit(bits, CANCELLED) => Some(Self::Cancelled),
            (false, false) if has_bit(bits, NOTIFIED) => Some(Self::Ready),
            (false, false) => Some(Self::Suspended),
        }
    }
}

const fn has_bit(bits: u64, bit: u64) -> bool {
    bits & bit != 0
}

/// A task that was spawned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskCell {
    /// Where it lies.
    pub at: Addr,
    /// Its functions.
    pub vtable: TaskVtable,
    /// Its number, of which a process has each once.
    pub id: u64,
    /// The number of the list of tasks that it is in: each runtime and each `LocalSet` has one.
    pub owner: u64,
    /// What it is doing.
    pub state: TaskState,
}

impl TaskCell {
    /// The task that lies at a place, if there is one. One that was not yet put into a list may be the copy from
    /// which it is made.
    pub fn load(
        space: &dyn AddressSpace,
        at: Addr,
        vtables: &FxHashMap<Addr, TaskVtable>,
    ) -> Option<Self> {
        let word = |offset: u64| space.read_word(at.checked_add(offset)?).ok();
        let vtable = *vtables.get(&Addr::new(word(VTABLE)?))?;
        let state = TaskState::of(word(0)?)?;
        let (next, owner, id) = (word(NEXT)?, word(OWNER)?, word(vtable.id)?);
        let is_one = at.get().is_multiple_of(ALIGNMENT)
            && next.is_multiple_of(ALIGNMENT)
            && (1..MAX_OWNER).contains(&owner)
            && (1..MAX_OWNER).contains(&id);
        is_one.then_some(Self { at, vtable, id, owner, state })
    }

    /// The task whose table lies in a word.
    pub fn around_vtable(word: Addr) -> Option<Addr> {
        let at = Addr::new(word.get().checked_sub(VTABLE)?);
        at.get().is_multiple_of(ALIGNMENT).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_say_what_a_task_does() {
        let state = |bits: u64| TaskState::of((2 << REFERENCES) | bits);
        assert_eq!(state(0), Some(TaskState::Suspended));
        assert_eq!(state(0b1000), Some(TaskState::Suspended));
        assert_eq!(state(RUNNING | NOTIFIED), Some(TaskState::Running));
        assert_eq!(state(NOTIFIED), Some(TaskState::Ready));
        assert_eq!(state(COMPLETE), Some(TaskState::Complete));
        assert_eq!(state(NOTIFIED | CANCELLED), Some(TaskState::Cancelled));
    }

    #[test]
    fn what_was_freed_or_is_something_else_is_no_task() {
        assert_eq!(TaskState::of(RUNNING | COMPLETE | (1 << REFERENCES)), None);
        assert_eq!(TaskState::of(NOTIFIED), None);
        assert_eq!(TaskState::of(0x7f12_3456_7890), None);
        assert_eq!(TaskState::of(u64::MAX), None);
    }
}
