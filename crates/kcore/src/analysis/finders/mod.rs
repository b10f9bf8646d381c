//! The finders, one a file.

mod bad_pointer;
mod ended;
mod execution;
mod instruction;
mod last_words;
mod misaligned;
mod null_access;
mod protection;
mod stack_overflow;
mod truncated_file;

use super::Finder;

/// All finders, the one whose answer explains most first.
pub const FINDERS: &[Finder] = &[
    stack_overflow::FINDER,
    execution::FINDER,
    null_access::FINDER,
    bad_pointer::FINDER,
    protection::FINDER,
    misaligned::FINDER,
    truncated_file::FINDER,
    instruction::FINDER,
    last_words::FINDER,
    ended::FINDER,
];
