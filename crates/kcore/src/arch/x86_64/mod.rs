//! x86-64, Linux.

mod fp_registers;
mod jump;
mod syscalls;
mod tls;
mod xsave;

pub use fp_registers::{VectorRegister, VectorUse, X86FpRegisters, X87Register};

use super::{ArchFacts, Exceptions};

/// What is known of the architecture.
pub const FACTS: ArchFacts = ArchFacts {
    system_calls: syscalls::NAMES,
    // The processor reports no address with a general protection fault.
    segv_without_address: ": general protection fault, mostly from a non-canonical address",
    thread_pointer: "fsbase",
    tls: Some(tls::TLS),
    jump: Some(jump::JUMP),
    // Divide error, invalid opcode, general protection; 14 is the page fault (Intel SDM, volume 3, 6.3.1).
    exceptions: Exceptions {
        page_fault: Some(14),
        others: &[(0, 8, 1), (6, 4, 2), (12, 7, 0x80), (13, 11, 0x80)],
    },
};
