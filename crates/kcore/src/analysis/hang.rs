//! What the threads of a process wait for, as finders see it.

use super::{Crash, EvidenceSource, crash::ends_itself};
use crate::{
    Core, Tid, Waits,
    waits::{Holder, Lock, LockKind},
};

/// The member of `std::mutex` that is the mutex (libstdc++'s `std_mutex.h`).
#[cfg(feature = "disassembly")]
const OF_CXX: &str = "._M_mutex";

/// The waits of a process.
pub struct Hang<'a> {
    core: &'a Core,
    waits: &'a Waits,
    cycles: Vec<Vec<Tid>>,
}

impl<'a> Hang<'a> {
    pub(super) fn of(core: &'a Core) -> Self {
        let waits = core.waits();
        let cycles = waits.cycles();
        Self { core, waits, cycles }
    }

    /// The process.
    pub const fn core(&self) -> &'a Core {
        self.core
    }

    /// What its threads wait for.
    pub const fn waits(&self) -> &'a Waits {
        self.waits
    }

    /// Whether it is known what threads of this machine wait for; an error says that it is not.
    pub(super) const fn known(&self) -> Result<(), &'static str> {
        match self.waits.knows_blocked {
            true => Ok(()),
            false => Err("what threads wait for is not known on this machine"),
        }
    }

    /// The circles of threads that wait for each other, or for themselves.
    pub fn cycles(&self) -> &[Vec<Tid>] {
        &self.cycles
    }

    /// Whether a thread of the circle stops waiting by itself.
    pub(super) fn has_limit(&self, cycle: &[Tid]) -> bool {
        let waiters = cycle.iter().map(|tid| self.waits.waiter(*tid));
        waiters.into_iter().any(|waiter| waiter.is_none_or(|waiter| waiter.has_limit))
    }

    /// A lock with its name.
    pub(super) fn named(&self, lock: &Lock) -> String {
        let symbol = self.core.symbols().at(lock.at).filter(|it| it.sized && it.offset < it.size);
        let kind = lock.kind.spelled();
        match symbol {
            Some(symbol) if symbol.offset == 0 => format!("the {kind} {}", symbol.name),
            Some(symbol) => format!("the {kind} {}+{:#x}", symbol.name, symbol.offset),
            None => match self.name_in_frames(lock) {
                Some(name) => format!("the {kind} {name} at {}", lock.at),
                None => format!("the {kind} at {}", lock.at),
            },
        }
    }

    /// What the functions of the first waiter call a lock: `pool->lock`.
    #[cfg(feature = "disassembly")]
    fn name_in_frames(&self, lock: &Lock) -> Option<String> {
        let is_of_c = matches!(
            lock.kind,
            LockKind::Mutex(_)
                | LockKind::ReadWriteLock
                | LockKind::Condition
                | LockKind::Semaphore
        );
        let waiter = lock.waiters.first().filter(|_| is_of_c)?;
        let name = self.core.name_behind_pointer(waiter.tid, lock.at)?;
        Some(name.strip_suffix(OF_CXX).unwrap_or(&name).to_owned())
    }

    /// Nothing: what follows pointers reads code too.
    #[cfg(not(feature = "disassembly"))]
    const fn name_in_frames(&self, _: &Lock) -> Option<String> {
        None
    }

    /// What a thread waits for, and who holds it: `waits for the mutex m, which thread 2 holds`.
    pub(super) fn wait(&self, tid: Tid) -> Option<String> {
        let lock = self.waits.lock_of(tid)?;
        Some(match (lock.kind, lock.holder) {
            (LockKind::Join, Holder::Thread(other)) => {
                format!("waits for the end of thread {other}")
            }
            (_, Holder::Thread(other)) => {
                format!("waits for {}, which thread {other} holds", self.named(lock))
            }
            _ => format!("waits for {}", self.named(lock)),
        })
    }

    /// What a blocked thread waits for, to follow its name, with what shows that. `None` if the thread runs.
    pub(super) fn blocked(&self, tid: Tid) -> Option<(String, EvidenceSource)> {
        if let Some(wait) = self.wait(tid) {
            let at = self.waits.lock_of(tid).map(|lock| lock.at)?;
            return Some((wait, EvidenceSource::Lock(at)));
        }
        let call = self.waits.kernel_wait(tid)?.spelled();
        Some((format!("waits in {call}"), EvidenceSource::Waits))
    }

    /// The innermost function of the program's own code in which a thread waits, as the end of a sentence.
    pub(super) fn site(&self, tid: Tid) -> String {
        let function = self.core.wait_site(tid).and_then(|site| site.location.function.clone());
        function.map_or_else(String::new, |function| format!(", in {function}"))
    }

    /// Threads outside of the circle that wait for one in it, directly or by way of others.
    pub(super) fn behind(&self, cycle: &[Tid]) -> usize {
        let waiters = self.waits.locks.iter().flat_map(|lock| &lock.waiters);
        let outside = waiters.map(|waiter| waiter.tid).filter(|tid| !cycle.contains(tid));
        outside.filter(|tid| self.leads_to(*tid, cycle)).count()
    }

    /// Whether a thread waits, directly or by way of others, for one of `threads`.
    pub(super) fn leads_to(&self, tid: Tid, threads: &[Tid]) -> bool {
        let next = |tid: &Tid| self.waits.blocker(*tid);
        // Each thread waits for one lock, so that no path is longer.
        let most = self.core.threads().len();
        let mut path = std::iter::successors(next(&tid), next).take(most);
        path.any(|tid| threads.contains(&tid))
    }

    /// Whether a thread ended the process by a fault or of its own will, so that what waits for it is no cause.
    pub(super) fn crashed_in(&self, tid: Tid) -> bool {
        let crash = Crash::of(self.core).filter(|crash| crash.tid() == tid);
        crash.is_some_and(|crash| crash.fault().is_some() || ends_itself(&crash))
    }
}
