//! The finders, one a file.

mod abort;
mod bad_pointer;
mod bad_return;
mod convoy;
mod deadlock;
mod division;
mod ended;
mod execution;
mod last_words;
mod null_access;
mod owner_gone;
mod read_only_write;
mod self_deadlock;
mod stack_overflow;
mod unmapped_access;

use super::Finder;

/// All finders, the one whose answer explains most first.
pub const FINDERS: &[Finder] = &[
    stack_overflow::FINDER,
    execution::FINDER,
    bad_return::FINDER,
    null_access::FINDER,
    bad_pointer::FINDER,
    unmapped_access::FINDER,
    read_only_write::FINDER,
    division::FINDER,
    last_words::FINDER,
    abort::FINDER,
    self_deadlock::FINDER,
    deadlock::FINDER,
    owner_gone::FINDER,
    convoy::FINDER,
    ended::FINDER,
];
