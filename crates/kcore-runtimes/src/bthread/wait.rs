//! What a suspended bthread waits for.

use std::fmt;

use kcore_mem::{Addr, AddressSpace};
use rustc_hash::FxHashMap;

use super::meta::Meta;

/// `ButexWaiter` and `ButexBthreadWaiter` of `src/bthread/butex.cpp`, the same in all releases.
const ID: u64 = 16;
const QUEUE: u64 = 24;
const TASK: u64 = 32;
const FIRST_BUTEX: u64 = 56;
const EXPECTED: u64 = 52;

/// A butex that is waited on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The word that is waited on, with which it begins.
    pub butex: Addr,
    /// The word's value, if it was dumped.
    pub value: Option<u32>,
    /// What the word was when the wait began.
    pub expected: Option<u32>,
    /// The bthread whose end is waited for.
    pub joins: Option<u64>,
    /// Whether it began to wait on another butex and was moved to this one: from a condition, which was
    /// signalled, to its mutex.
    pub moved: bool,
}

impl Wait {
    /// What a task waits for, if what it waits with points back at it and is in a queue: who wakes it
    /// takes it out. `joined`: whose end a butex stands for.
    pub fn of(
        space: &dyn AddressSpace,
        meta: &Meta,
        joined: &FxHashMap<Addr, u64>,
    ) -> Option<Self> {
        let word = |offset: u64| space.read_word(meta.waiter.checked_add(offset)?).ok();
        let is_own = word(ID) == Some(meta.id) && word(TASK) == Some(meta.at.get());
        let butex = Addr::new(word(QUEUE).filter(|butex| is_own && *butex != 0)?);
        let half = |at: Option<Addr>| {
            let value = at.and_then(|at| space.read_uint(at, 4).ok());
            value.and_then(|value| u32::try_from(value).ok())
        };
        Some(Self {
            butex,
            value: half(Some(butex)),
            expected: half(meta.waiter.checked_add(EXPECTED)),
            joins: joined.get(&butex).copied(),
            moved: word(FIRST_BUTEX).is_some_and(|first| first != butex.get()),
        })
    }

    /// Whether a task that began to wait was woken, and has not run since.
    pub fn is_over(space: &dyn AddressSpace, meta: &Meta) -> bool {
        let word = |offset: u64| space.read_word(meta.waiter.checked_add(offset)?).ok();
        word(ID) == Some(meta.id) && word(TASK) == Some(meta.at.get()) && word(QUEUE) == Some(0)
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.joins {
            Some(id) => write!(f, "end of bthread {id:x}"),
            None => write!(f, "butex {:x}", self.butex),
        }
    }
}
