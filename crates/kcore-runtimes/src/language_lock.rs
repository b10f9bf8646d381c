//! Locks of languages that threads of the machine wait for.

use kcore_mem::Addr;
use kcore_unwind::Tid;

/// A thread that sleeps on a futex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleeper {
    /// The thread.
    pub thread: Tid,
    /// The word that it sleeps on.
    pub word: Addr,
}

/// What a thread waits for that its language has made of a futex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanguageLock {
    /// What it is, in the words of JSON records and of text: `python_lock`, `Python Lock`.
    pub kind: LanguageLockKind,
    /// The object of the language, or the state of a lock that is none.
    pub at: Addr,
    /// The thread that holds it; `None` where nothing tells.
    pub holder: Option<Tid>,
    /// Whether the wait ends by itself; `None` where the limit of the futex is that of the wait.
    pub has_limit: Option<bool>,
}

/// A kind of lock of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LanguageLockKind {
    /// In JSON.
    pub word: &'static str,
    /// In text.
    pub spelled: &'static str,
    /// Whether its holder may take it again.
    pub is_recursive: bool,
    /// Whether memory records its holder. Else the code of a thread says that it took the lock; it may have given it back.
    pub records_holder: bool,
}
