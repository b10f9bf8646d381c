//! The finders, one a file.

mod abort;
mod bad_pointer;
mod bad_return;
mod bus_error;
mod convoy;
mod deadlock;
mod division;
mod ended;
mod execution;
mod guard_deadlock;
mod java_deadlock;
mod jump_target;
mod last_words;
mod limit;
mod misaligned;
mod negative_pointer;
mod no_access;
mod nobody_left;
mod null_access;
mod owner_gone;
mod read_only_write;
mod refused_call;
mod rseq;
mod self_deadlock;
mod stack_overflow;
mod terminate;
mod torn_heap;
mod trap;
mod unmapped_access;
mod use_after_free;

pub(super) use null_access::verb;
pub(super) use use_after_free::{FreedUse, freed_use};

use super::Finder;

/// All finders, the one whose answer explains most first.
pub const FINDERS: &[Finder] = &[
    stack_overflow::FINDER,
    use_after_free::FINDER,
    execution::FINDER,
    bad_return::FINDER,
    jump_target::FINDER,
    null_access::FINDER,
    negative_pointer::FINDER,
    bad_pointer::FINDER,
    unmapped_access::FINDER,
    read_only_write::FINDER,
    no_access::FINDER,
    misaligned::FINDER,
    rseq::FINDER,
    bus_error::FINDER,
    division::FINDER,
    last_words::FINDER,
    torn_heap::FINDER,
    trap::FINDER,
    terminate::FINDER,
    abort::FINDER,
    refused_call::FINDER,
    limit::FINDER,
    self_deadlock::FINDER,
    deadlock::FINDER,
    guard_deadlock::FINDER,
    java_deadlock::FINDER,
    owner_gone::FINDER,
    nobody_left::FINDER,
    convoy::FINDER,
    ended::FINDER,
];
