//! The locks of Python that threads wait for, and who holds them.
//!
//! To 3.13 a lock is a semaphore of the C library (`Python/thread_pthread.h`), whose address the object has. Since 3.14 it
//! is a word of the object, and who waits for it sleeps on a semaphore in a `struct wait_entry` on its own stack, behind the
//! address of that word (`Python/parking_lot.c`). An `RLock` records its owner (`Modules/_threadmodule.c`); a `Lock` does not,
//! but a frame within `with lock:` holds it.

use kcore_mem::{Addr, AddrRange};
use kcore_unwind::{RegisterId, Regs, Tid};

use super::{
    Python, ThreadState,
    heap::{Heap, Object},
};
use crate::{Host, LanguageLock, LanguageLockKind, Sleeper};

const LOCK: LanguageLockKind = LanguageLockKind {
    word: "python_lock",
    spelled: "Python Lock",
    is_recursive: false,
    records_holder: false,
};
const RLOCK: LanguageLockKind = LanguageLockKind {
    word: "python_rlock",
    spelled: "Python RLock",
    is_recursive: true,
    records_holder: true,
};
const GIL: LanguageLockKind =
    LanguageLockKind { word: "gil", spelled: "GIL", is_recursive: false, records_holder: true };

/// The first and second fields behind the header of a lock: the semaphore or the word, and the owner of an `RLock`.
const FIRST: u64 = 16;
const OWNER: u64 = 24;
/// From a semaphore to the address of the word, in a `struct wait_entry`.
const ADDRESS_BEFORE: u64 = 8;
/// In the word of a lock since 3.14: a thread waits for it (`_Py_HAS_PARKED`).
const HAS_PARKED: u64 = 2;
/// Bytes of a stack in which the lock is looked for: those of the functions between the interpreter and the system call.
const SEARCHED: u64 = 4096;

impl Python {
    /// What a thread waits for, if it is a lock of Python or the one of its interpreter.
    pub(super) fn lock_of(&self, host: &dyn Host, sleeper: Sleeper) -> Option<LanguageLock> {
        let mut states = self.thread_states(host, sleeper.thread).peekable();
        states.peek()?;
        states.find_map(|state| self.gil_of(host, state, sleeper.word)).or_else(|| {
            let heap = self.heap(host);
            let object = match heap.layout.minor {
                ..=13 => self.by_semaphore(host, &heap, sleeper),
                _ => self.by_parking(host, &heap, sleeper.word),
            };
            self.told(host, &heap, object?)
        })
    }

    /// The lock of a thread's interpreter, if the thread waits for that. It does so again and again, each time for a moment.
    fn gil_of(&self, host: &dyn Host, state: &ThreadState, word: Addr) -> Option<LanguageLock> {
        let at = self.gil_holding(host, state, word)?;
        let of_it = |other: &&ThreadState| other.interpreter == state.interpreter;
        let mut threads = self.state(host).threads.iter().filter(of_it);
        let holder = threads.find(|other| other.holds_gil).and_then(|holder| holder.tid);
        Some(LanguageLock { kind: GIL, at, holder, has_limit: Some(false) })
    }

    /// The lock whose semaphore a thread waits for, which functions that lie between still have at hand.
    fn by_semaphore(&self, host: &dyn Host, heap: &Heap<'_>, sleeper: Sleeper) -> Option<Object> {
        let is_it = |at: Addr| heap.pointer(at, FIRST) == Some(sleeper.word);
        let mut candidates = candidates(host, sleeper.thread).into_iter().filter(|at| is_it(*at));
        candidates.find_map(|at| self.lock_at(host, heap, at))
    }

    fn by_parking(&self, host: &dyn Host, heap: &Heap<'_>, semaphore: Addr) -> Option<Object> {
        let entry = semaphore.get().checked_sub(ADDRESS_BEFORE).map(Addr::new)?;
        let word = heap.word(entry, 0)?;
        let object = self.lock_at(host, heap, Addr::new(word.checked_sub(FIRST)?))?;
        let is_waited_for = heap.uint(object.at, FIRST, 1)? & HAS_PARKED != 0;
        is_waited_for.then_some(object)
    }

    fn lock_at(&self, host: &dyn Host, heap: &Heap<'_>, at: Addr) -> Option<Object> {
        let object = heap.object(at)?;
        self.lock_kind(host, object).map(|_| object)
    }

    /// Which lock an object is, if it is one.
    pub(super) fn lock_kind(&self, host: &dyn Host, object: Object) -> Option<LanguageLockKind> {
        match &*self.class_name(host, object.class)? {
            "lock" => Some(LOCK),
            "RLock" => Some(RLOCK),
            _ => None,
        }
    }

    fn told(&self, host: &dyn Host, heap: &Heap<'_>, object: Object) -> Option<LanguageLock> {
        let kind = self.lock_kind(host, object)?;
        let holder = match kind {
            RLOCK => self.owner(host, heap, object),
            _ => self.within(host, object.at),
        };
        Some(LanguageLock { kind, at: object.at, holder, has_limit: None })
    }

    /// The thread whose ident an `RLock` has.
    fn owner(&self, host: &dyn Host, heap: &Heap<'_>, object: Object) -> Option<Tid> {
        let ident = heap.word(object.at, OWNER).filter(|ident| *ident != 0)?;
        let threads = &self.state(host).threads;
        threads.iter().find(|state| state.ident == ident)?.tid
    }

    /// The thread that is within `with` of a lock, if it is one alone.
    fn within(&self, host: &dyn Host, lock: Addr) -> Option<Tid> {
        let open = self.open_withs(host).iter().filter(|open| open.lock == lock);
        let mut threads: Vec<Tid> = open.map(|open| open.thread).collect();
        threads.dedup();
        match threads.as_slice() {
            [thread] => Some(*thread),
            _ => None,
        }
    }
}

/// The words of a thread's registers and of the innermost part of its stack.
fn candidates(host: &dyn Host, thread: Tid) -> Vec<Addr> {
    let registers = host.registers(thread);
    let numbers = || (0..Regs::COUNT).filter_map(|number| u16::try_from(number).ok());
    let of_registers = registers
        .iter()
        .flat_map(|registers| numbers().filter_map(|number| registers.get(RegisterId(number))));
    let stack = host.stack_pointer(thread).map(|sp| stack_part(host, sp)).unwrap_or_default();
    let of_stack = stack.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
    of_registers.chain(of_stack).map(Addr::new).collect()
}

fn stack_part(host: &dyn Host, sp: Addr) -> Vec<u8> {
    let end = host.range_at(sp).map_or(sp, |mapping| mapping.range.end);
    let part = AddrRange::new(sp, end.min(sp.checked_add(SEARCHED).unwrap_or(end)));
    host.space().read_held(part.start, part.end.get().saturating_sub(part.start.get()))
}
