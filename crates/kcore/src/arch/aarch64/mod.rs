//! aarch64, Linux.

mod syscalls;

use super::ArchFacts;

/// What is known of the architecture.
pub const FACTS: ArchFacts = ArchFacts {
    system_calls: syscalls::NAMES,
    segv_without_address: "",
    thread_pointer: Some("tpidr"),
};
