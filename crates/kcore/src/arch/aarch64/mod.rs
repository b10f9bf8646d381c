//! aarch64, Linux.

mod blocked_call;
mod callee;
mod fp_registers;
mod jump;
mod scalable;
mod syscalls;
mod tls;

pub use fp_registers::Aarch64FpRegisters;
pub use scalable::ScalableRegisters;
pub use syscalls::NAMES as SYSTEM_CALLS;

use super::{ArchFacts, CallFacts, Exceptions};

/// What is known of the architecture.
pub const FACTS: ArchFacts = ArchFacts {
    system_calls: syscalls::NAMES,
    first_system_call: 0,
    segv_without_address: "",
    protected: &[],
    thread_pointer: "tpidr",
    tls: Some(tls::TLS),
    jump: Some(jump::JUMP),
    exceptions: Exceptions { page_fault: None, others: &[] },
    // The structures end at the thread pointer, and their sizes vary.
    calls: Some(CallFacts {
        blocked: blocked_call::blocked,
        callee: callee::callee,
        glibc_tid: None,
        musl_tid: None,
    }),
};
