//! What threads wait for, and what is known of who holds it.

use kcore_mem::Addr;
use kcore_runtimes::LanguageLockKind;

use crate::Tid;

/// Something that threads wait for and other threads are to free, signal or end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lock {
    /// What it is.
    pub kind: LockKind,
    /// Where it lies; of a futex whose object is not known, the word itself.
    pub at: Addr,
    /// The word that the first waiter sleeps on.
    pub word: Addr,
    /// What that word holds; `None` if it is not in the core.
    pub value: Option<u32>,
    /// Who holds it.
    pub holder: Holder,
    /// What proves that it is of this kind.
    pub proof: LockProof,
    /// The threads that wait, in the order of the core's threads.
    pub waiters: Vec<LockWaiter>,
}

impl Lock {
    /// Whether its holder is what memory records. Else the code of a thread says that it took the lock, which it may have
    /// given back.
    pub const fn records_holder(&self) -> bool {
        match self.kind {
            LockKind::OfLanguage(kind) => kind.records_holder,
            _ => true,
        }
    }
}

/// A thread that waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockWaiter {
    /// The thread.
    pub tid: Tid,
    /// For what.
    pub purpose: WaitPurpose,
    /// Whether the wait ends by itself.
    pub has_limit: bool,
    /// Whether the word that it sleeps on still holds what made it sleep.
    pub is_unchanged: bool,
}

/// For what a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitPurpose {
    /// To hold the lock alone.
    Lock,
    /// To hold the lock with other readers.
    Read,
    /// For something to happen.
    Event,
}

impl WaitPurpose {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Read => "read",
            Self::Event => "event",
        }
    }
}

/// What threads wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockKind {
    /// A mutex of glibc: `std::mutex` and its like too.
    Mutex(MutexKind),
    /// A mutex of musl.
    MuslMutex,
    /// A read-write lock of glibc: `std::shared_mutex` too.
    ReadWriteLock,
    /// A condition variable of glibc.
    Condition,
    /// A semaphore of glibc.
    Semaphore,
    /// A barrier of glibc.
    Barrier,
    /// What is to be done once, by glibc.
    Once,
    /// The end of a thread.
    Join,
    /// The lock of a stream of glibc's stdio.
    Stream,
    /// The lock of an arena of glibc's allocator.
    Arena,
    /// The guard of a static variable of C++.
    StaticGuard,
    /// The result of a `std::future` of libstdc++.
    Future,
    /// A `Mutex` of Rust's standard library.
    RustMutex,
    /// A `RwLock` of Rust's standard library.
    RustRwLock,
    /// A `Condvar` of Rust's standard library.
    RustCondvar,
    /// A `Once` of Rust's standard library.
    RustOnce,
    /// What a thread sleeps on in Rust's `std::thread::park`.
    RustParker,
    /// A lock that a language has made of a futex.
    OfLanguage(LanguageLockKind),
    /// A futex of an object that is not known.
    Futex,
}

impl LockKind {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mutex(_) | Self::MuslMutex => "mutex",
            Self::ReadWriteLock => "rwlock",
            Self::Condition => "condition",
            Self::Semaphore => "semaphore",
            Self::Barrier => "barrier",
            Self::Once => "once",
            Self::Join => "join",
            Self::Stream => "stream",
            Self::Arena => "arena",
            Self::StaticGuard => "static_guard",
            Self::Future => "future",
            Self::RustMutex => "rust_mutex",
            Self::RustRwLock => "rust_rwlock",
            Self::RustCondvar => "rust_condvar",
            Self::RustOnce => "rust_once",
            Self::RustParker => "rust_parker",
            Self::OfLanguage(kind) => kind.word,
            Self::Futex => "futex",
        }
    }

    /// What it is, in words.
    pub fn spelled(self) -> String {
        let words = match self {
            Self::Mutex(kind) => return kind.spelled(),
            Self::MuslMutex => "musl mutex",
            Self::Condition => "condition variable",
            Self::Join => "end of a thread",
            Self::Stream => "lock of a stream",
            Self::Arena => "lock of the allocator",
            Self::StaticGuard => "guard of a static variable",
            Self::RustMutex => "Rust Mutex",
            Self::RustRwLock => "Rust RwLock",
            Self::RustCondvar => "Rust Condvar",
            Self::RustOnce => "Rust Once",
            Self::RustParker => "parked Rust thread",
            Self::OfLanguage(kind) => kind.spelled,
            Self::Futex => "futex word",
            other => other.as_str(),
        };
        words.to_owned()
    }

    /// Whether all waiters sleep on the same word.
    pub(super) const fn has_one_word(self) -> bool {
        !matches!(
            self,
            Self::ReadWriteLock | Self::Condition | Self::RustRwLock | Self::OfLanguage(_)
        )
    }
}

/// What a mutex does when its owner locks it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MutexType {
    /// It waits for itself.
    Normal,
    /// It counts.
    Recursive,
    /// It fails.
    ErrorChecking,
    /// It waits for itself. Others spin for a while before they sleep.
    Adaptive,
}

impl MutexType {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Recursive => "recursive",
            Self::ErrorChecking => "error_checking",
            Self::Adaptive => "adaptive",
        }
    }
}

/// The attributes of a mutex of glibc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MutexKind {
    /// What it does when its owner locks it again.
    pub mutex_type: MutexType,
    /// Whether it outlives the end of its owner.
    pub is_robust: bool,
    /// Whether its owner inherits the priority of waiters.
    pub inherits_priority: bool,
    /// Whether threads of other processes may hold it. A robust mutex always says so.
    pub is_shared: bool,
}

impl MutexKind {
    fn spelled(self) -> String {
        let mutex_type = match self.mutex_type {
            MutexType::Normal => "",
            MutexType::Recursive => "recursive ",
            MutexType::ErrorChecking => "error-checking ",
            MutexType::Adaptive => "adaptive ",
        };
        let robust = if self.is_robust { "robust " } else { "" };
        let inherits = if self.inherits_priority { "priority-inheriting " } else { "" };
        format!("{robust}{inherits}{mutex_type}mutex")
    }
}

/// Who holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// A thread, as memory records. Of a join, the thread that is to end.
    Thread(Tid),
    /// Memory names the id of a thread that is not in the core.
    Absent(u32),
    /// So many readers. Memory does not record which.
    Readers(u32),
    /// It is held, and memory does not record by whom.
    NotRecorded,
    /// Nobody: it is free, or nothing that is held.
    Nobody,
    /// What would tell is not in the core.
    Unknown,
}

impl Holder {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Thread(_) => "thread",
            Self::Absent(_) => "absent_thread",
            Self::Readers(_) => "readers",
            Self::NotRecorded => "not_recorded",
            Self::Nobody => "nobody",
            Self::Unknown => "unknown",
        }
    }
}

/// What proves that a lock is of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockProof {
    /// Its own words.
    Words,
    /// The function that waits there.
    Function,
    /// The function that the first caller from outside of its library called.
    CallSite,
    /// The runtime of a language, whose object has the futex.
    Runtime,
    /// Nothing does: it is a futex and no more.
    None,
}

impl LockProof {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Function => "function",
            Self::CallSite => "call_site",
            Self::Runtime => "runtime",
            Self::None => "none",
        }
    }
}
