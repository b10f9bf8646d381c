//! The object that a futex belongs to.

use kcore_mem::Addr;
use kcore_runtimes::{LanguageLock, Sleeper};
#[cfg(feature = "disassembly")]
use kcore_unwind::Frame;
use kcore_unwind::{Flow, RegisterId, Regs, Walker};

use super::{
    function::{self, WaitingFunction},
    futex::FutexWait,
    identities::{Identities, Library},
    lock::{Holder, Lock, LockKind, LockProof, LockWaiter, WaitPurpose},
    objects::{
        FoundLock, Sight, barrier, condition, join, musl, mutex, once, rust, rwlock, semaphore,
        static_guard, stream,
    },
};
use crate::{Core, Stack, Tid};

/// Frames in whose registers the address of an object is looked for.
const FRAMES: usize = 6;
/// Where the first arena of a heap lies behind the heap's start, whose address is a multiple of its size (glibc 2.36
/// `malloc/arena.c`).
const HEAP: u64 = 64 << 20;
const ARENA: u64 = 0x30;

/// Recognizes the objects of one core.
pub struct Recognizer<'a> {
    core: &'a Core,
    identities: &'a Identities,
    walker: Option<Walker<'a>>,
}

impl<'a> Recognizer<'a> {
    /// For the threads of a core.
    pub fn new(core: &'a Core, identities: &'a Identities) -> Self {
        Self { core, identities, walker: core.stacks().walker() }
    }

    /// What a thread waits for, and how.
    pub fn recognize(&mut self, tid: Tid, wait: &FutexWait) -> (Lock, LockWaiter) {
        let sleeper = Sleeper { thread: tid, word: wait.word };
        if let Some(lock) = self.core.runtimes().lock(self.core, sleeper) {
            return of_language(tid, lock, wait);
        }
        let (found, proof) = self.find(tid, wait);
        let lock = Lock {
            kind: found.kind,
            at: found.at,
            word: wait.word,
            value: wait.value,
            holder: found.holder,
            proof,
            waiters: Vec::new(),
        };
        let (purpose, has_limit) = (found.purpose, wait.has_limit);
        (lock, LockWaiter { tid, purpose, has_limit, is_unchanged: wait.is_unchanged() })
    }

    fn find(&mut self, tid: Tid, wait: &FutexWait) -> (FoundLock, LockProof) {
        let (space, identities) = (self.core.space(), self.identities);
        let sight = Sight { space, identities, wait };
        let proven = join::proven(&sight)
            .or_else(|| mutex::proven(&sight))
            .or_else(|| musl::proven_mutex(&sight));
        if let Some(found) = proven {
            return (found, LockProof::Words);
        }
        let named = self
            .function(tid)
            .and_then(|(function, proof)| Some((self.named(tid, function, &sight)?, proof)));
        named.unwrap_or_else(|| (unknown(wait), LockProof::None))
    }

    fn function(&mut self, tid: Tid) -> Option<(WaitingFunction, LockProof)> {
        let stack: Stack =
            self.core.stacks().of_thread_with(self.walker.as_mut()?, tid, function::FRAMES);
        function::of(self.core, &stack)
    }

    /// The object that a function waits for, if its words fit.
    fn named(&self, tid: Tid, function: WaitingFunction, sight: &Sight<'_>) -> Option<FoundLock> {
        use WaitingFunction as F;
        match function {
            F::StaticGuard => static_guard::named(sight),
            F::Future => future(sight),
            F::RustMutex => rust::mutex(sight),
            F::RustReadLock => rust::to_read(sight),
            F::RustWriteLock => rust::to_write(sight),
            F::RustCondvar => rust::condvar(sight),
            F::RustOnce => rust::once(sight),
            F::RustPark => rust::parker(sight),
            of_libc => self.of_glibc(tid, of_libc, sight),
        }
    }

    /// The same of a C library's function. Other libraries have other layouts.
    fn of_glibc(
        &self,
        tid: Tid,
        function: WaitingFunction,
        sight: &Sight<'_>,
    ) -> Option<FoundLock> {
        use WaitingFunction as F;
        if self.identities.library() != Library::Glibc {
            return None;
        }
        match function {
            F::MutexLock => mutex::named(sight).or_else(|| self.refused_mutex(tid, sight)),
            F::ReadLock => rwlock::to_read(sight),
            F::WriteLock => rwlock::to_write(sight),
            F::ConditionWait => condition::named(sight, self.condition(tid, sight.wait.word)),
            F::SemaphoreWait => semaphore::named(sight),
            F::BarrierWait => barrier::named(sight),
            F::Once => once::named(sight),
            F::Join => join::named(sight),
            F::Stream => stream::named(sight),
            F::Allocator => self.arena(sight),
            _ => None,
        }
    }

    /// The mutex that the kernel refused to lock since its owner waits for the thread in the end: glibc then waits for ever for
    /// a word of its own. The code of the caller says which it was.
    #[cfg(feature = "disassembly")]
    fn refused_mutex(&self, tid: Tid, sight: &Sight<'_>) -> Option<FoundLock> {
        let stack = self.core.stacks().of_thread(tid, function::FRAMES);
        let module = |frame: &Frame| self.core.modules().at(frame.pc.lookup()).map(|it| it.base());
        let library = module(stack.frames.first()?);
        let caller = stack.frames.iter().position(|frame| module(frame) != library)?;
        let at = Addr::new(self.core.passed_number(&stack, caller, 0)?);
        mutex::refused(sight, at)
    }

    #[cfg(not(feature = "disassembly"))]
    const fn refused_mutex(&self, _: Tid, _: &Sight<'_>) -> Option<FoundLock> {
        None
    }

    /// Which of the places where a condition variable may lie some frame of the wait keeps in a register, if one alone.
    fn condition(&self, tid: Tid, word: Addr) -> Option<Addr> {
        let candidates = condition::candidates(word);
        let mut kept = [false; 2];
        let start = self.core.registers().of_thread(tid)?;
        let mut walker = self.core.native_walker()?;
        walker.walk(&start, FRAMES, &mut |_, registers| {
            for (kept, candidate) in kept.iter_mut().zip(candidates) {
                *kept |= holds(registers, candidate);
            }
            Flow::Continue
        });
        match kept {
            [true, false] => Some(candidates[0]),
            [false, true] => Some(candidates[1]),
            _ => None,
        }
    }

    /// The lock of an arena: the main one lies in the C library's data, others at the start of their heaps.
    fn arena(&self, sight: &Sight<'_>) -> Option<FoundLock> {
        let word = sight.wait.word;
        let module = |at: Addr| self.core.modules().at(at).map(|module| module.base());
        let is_in_library = module(word).is_some() && module(word) == self.allocator();
        let is_of_heap = word.get() % HEAP == ARENA;
        let is_wait = sight.wait.is_plain() && sight.wait.expected == 2;
        let found = FoundLock::held(LockKind::Arena, word, Holder::NotRecorded);
        (is_wait && (is_in_library || is_of_heap)).then_some(found)
    }

    /// The module that has the allocator.
    fn allocator(&self) -> Option<Addr> {
        let malloc = self.core.lookup_libc("malloc")?;
        self.core.modules().at(malloc).map(|module| module.base())
    }
}

/// The result of a `std::future` of libstdc++: a word whose highest bit says that threads wait (GCC 12
/// `include/bits/atomic_futex.h`).
fn future(sight: &Sight<'_>) -> Option<FoundLock> {
    const WAITED_FOR: u32 = 0x8000_0000;
    let is_wait = sight.wait.is_plain() && sight.wait.expected == WAITED_FOR;
    is_wait.then(|| FoundLock::event(LockKind::Future, sight.wait.word))
}

/// The lock of a language, and how a thread waits for it. Who holds one that no thread is known to hold is not recorded.
fn of_language(tid: Tid, found: LanguageLock, wait: &FutexWait) -> (Lock, LockWaiter) {
    let lock = Lock {
        kind: LockKind::OfLanguage(found.kind),
        at: found.at,
        word: wait.word,
        value: wait.value,
        holder: found.holder.map_or(Holder::NotRecorded, Holder::Thread),
        proof: LockProof::Runtime,
        waiters: Vec::new(),
    };
    let has_limit = found.has_limit.unwrap_or(wait.has_limit);
    let is_unchanged = wait.is_unchanged();
    (lock, LockWaiter { tid, purpose: WaitPurpose::Lock, has_limit, is_unchanged })
}

fn unknown(wait: &FutexWait) -> FoundLock {
    let (kind, at) = (LockKind::Futex, wait.word);
    FoundLock { kind, at, holder: Holder::Unknown, purpose: WaitPurpose::Event }
}

/// Whether some register is known to hold an address.
fn holds(registers: &Regs, at: Addr) -> bool {
    let all = (0..Regs::COUNT).filter_map(|number| u16::try_from(number).ok()).map(RegisterId);
    all.filter_map(|register| registers.get(register)).any(|value| value == at.get())
}
