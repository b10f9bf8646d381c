//! x86-64, Linux.

mod syscalls;

use super::ArchFacts;

/// What is known of the architecture.
pub const FACTS: ArchFacts = ArchFacts {
    system_calls: syscalls::NAMES,
    // The processor reports no address with a general protection fault.
    segv_without_address: ": general protection fault, mostly from a non-canonical address",
    thread_pointer: None,
};
