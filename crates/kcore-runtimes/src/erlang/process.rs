//! One process of Erlang (`erl_process.h`).

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::Tid;

use super::{
    atoms,
    code::Mfa,
    ids::{Ids, Pid},
    memory::Memory,
};

/// `RegProc.name`.
const REGISTERED_NAME: u64 = 32;
/// Messages of one queue that are counted, at most.
const MAX_MESSAGES: u64 = 1 << 24;
/// `ErtsMessage`: the next one, and the term.
const NEXT: u64 = 0;
const TERM: u64 = 16;
/// What the timer of a process is when it is over.
const TIMED_OUT: u64 = 1;

/// Bits of `state`, `ERTS_PSFLG_*`.
const FREE: u64 = 1 << 10;
const EXITING: u64 = 1 << 11;
const ACTIVE: u64 = 1 << 13;
const RUNNING: u64 = 1 << 15;
const SUSPENDED: u64 = 1 << 16;
const COLLECTING: u64 = 1 << 17;
const ACTIVE_SYSTEM: u64 = 1 << 20;
const RUNNING_SYSTEM: u64 = 1 << 21;
const DIRTY: u64 = 1 << 29;
const DIRTY_SYSTEM: u64 = 1 << 30;

/// What a process is doing, by the words of `erlang:process_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErlangState {
    /// It ended, and its memory is still there.
    Free,
    /// It ends.
    Exiting,
    /// Its heap is collected.
    Collecting,
    /// A scheduler runs it.
    Running,
    /// It was suspended.
    Suspended,
    /// It waits for a scheduler.
    Runnable,
    /// It waits for a message.
    Waiting,
}

impl ErlangState {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Free,
        Self::Exiting,
        Self::Collecting,
        Self::Running,
        Self::Suspended,
        Self::Runnable,
        Self::Waiting,
    ];

    const fn of(bits: u64) -> Self {
        let running = RUNNING | RUNNING_SYSTEM | DIRTY | DIRTY_SYSTEM;
        match bits {
            _ if bits & FREE != 0 => Self::Free,
            _ if bits & EXITING != 0 => Self::Exiting,
            _ if bits & COLLECTING != 0 => Self::Collecting,
            _ if bits & running != 0 => Self::Running,
            _ if bits & SUSPENDED != 0 => Self::Suspended,
            _ if bits & (ACTIVE | ACTIVE_SYSTEM) != 0 => Self::Runnable,
            _ => Self::Waiting,
        }
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Exiting => "exiting",
            Self::Collecting => "garbage_collecting",
            Self::Running => "running",
            Self::Suspended => "suspended",
            Self::Runnable => "runnable",
            Self::Waiting => "waiting",
        }
    }
}

/// A process of Erlang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErlangProcess {
    /// Where its `Process` lies.
    pub at: Addr,
    /// Its number.
    pub pid: Pid,
    /// What it is doing.
    pub state: ErlangState,
    /// The atom by which it is registered.
    pub registered: Option<u64>,
    /// The function that it began with.
    pub initial: Option<Mfa>,
    /// The function that the virtual machine noted as the current one: it may be one that is written in C.
    pub noted: Option<Mfa>,
    /// Where it goes on, or was when it last went on.
    pub code: Addr,
    /// Its stack: from the innermost word to the end of the heap, half-open.
    pub stack: AddrRange,
    /// The process that made it.
    pub parent: Option<Pid>,
    /// How much work it did, in the virtual machine's measure.
    pub reductions: u64,
    /// Bytes of its heaps, with the messages that lie beside them.
    pub heap_bytes: u64,
    /// Messages that wait to be received.
    pub messages: u64,
    /// Whether there are more of them than were counted.
    pub is_cut: bool,
    /// Whether its wait ends at a time in any case.
    pub has_timeout: bool,
    /// The thread that runs it.
    pub thread: Option<Tid>,
}

impl ErlangProcess {
    /// That whose `Process` lies at an address, if one does.
    pub fn load(memory: &Memory<'_>, ids: &Ids, at: Addr) -> Option<Self> {
        let fields = &memory.layout.process;
        let word = |offset| memory.word(at, offset);
        let pid = ids.pid(word(0)?)?;
        let (heap, end, top) =
            (word(fields.heap)?, word(fields.heap.checked_add(8)?)?, word(fields.stop)?);
        (heap <= top && top <= end).then_some(())?;
        let old = word(fields.old_end)?.saturating_sub(word(fields.old_heap)?);
        let words = word(fields.heap_size)?.saturating_add(word(fields.fragments)?);
        let registered = memory.pointer(at, fields.registered);
        let registered = registered.and_then(|it| memory.word(it, REGISTERED_NAME));
        let (messages, is_cut) = count(memory, at, fields.messages);
        let state = ErlangState::of(memory.uint(at, fields.state, 4)?);
        Some(Self {
            at,
            pid,
            state,
            registered: registered.filter(|name| atoms::is_atom(*name)),
            initial: Mfa::load(memory, at.checked_add(fields.initial)?),
            noted: memory.pointer(at, fields.current).and_then(|at| Mfa::load(memory, at)),
            code: Addr::new(word(fields.code)?),
            stack: AddrRange::new(Addr::new(top), Addr::new(end)),
            parent: ids.pid(word(fields.parent)?),
            reductions: word(fields.reductions)?,
            heap_bytes: words.saturating_mul(8).saturating_add(old),
            messages,
            is_cut,
            has_timeout: word(fields.timer)? > TIMED_OUT,
            thread: None,
        })
    }

    /// The messages that it has not received, oldest first, at most so many: where each lies, with its term.
    pub fn queue(&self, memory: &Memory<'_>, most: usize) -> Vec<(Addr, u64)> {
        let first = memory.pointer(self.at, memory.layout.process.messages);
        let mut next = first;
        let mut found = Vec::new();
        while let Some(at) = next.filter(|_| found.len() < most) {
            let Some(term) = memory.word(at, TERM) else { break };
            found.push((at, term));
            next = memory.pointer(at, NEXT);
        }
        found
    }
}

/// How many messages stand in a list, and whether there are more.
fn count(memory: &Memory<'_>, at: Addr, list: u64) -> (u64, bool) {
    let mut next = memory.pointer(at, list);
    let mut count: u64 = 0;
    while let Some(at) = next {
        if count >= MAX_MESSAGES {
            return (count, true);
        }
        count = count.saturating_add(1);
        match memory.word(at, NEXT) {
            Some(word) => next = Some(Addr::new(word)).filter(|at| at.get() != 0),
            None => return (count, true),
        }
    }
    (count, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_the_words_of_process_info() {
        assert_eq!(ErlangState::of(0x50).as_str(), "waiting");
        assert_eq!(ErlangState::of(RUNNING | ACTIVE).as_str(), "running");
        assert_eq!(ErlangState::of(DIRTY).as_str(), "running");
        assert_eq!(ErlangState::of(ACTIVE).as_str(), "runnable");
        assert_eq!(ErlangState::of(ACTIVE | SUSPENDED).as_str(), "suspended");
        assert_eq!(ErlangState::of(EXITING | ACTIVE).as_str(), "exiting");
    }
}
