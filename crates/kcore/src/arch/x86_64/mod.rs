//! x86-64, Linux.

mod blocked_call;
mod callee;
mod fp_registers;
mod jump;
mod syscalls;
mod tls;
mod xsave;

pub use tls::TLS;

pub use fp_registers::{VectorRegister, VectorUse, X86FpRegisters, X87Register};

use super::{ArchFacts, CallFacts, Exceptions};

/// What is known of the architecture.
pub const FACTS: ArchFacts = ArchFacts {
    system_calls: syscalls::NAMES,
    first_system_call: 0,
    // The processor reports no address with a general protection fault.
    segv_without_address: ": general protection fault, mostly from a non-canonical address",
    protected: PROTECTED,
    thread_pointer: "fsbase",
    tls: Some(tls::TLS),
    jump: Some(jump::JUMP),
    // Divide error, invalid opcode, general protection; 14 is the page fault (Intel SDM, volume 3, 6.3.1).
    exceptions: Exceptions {
        page_fault: Some(14),
        others: &[(0, 8, 1), (6, 4, 2), (12, 7, 0x80), (13, 11, 0x80)],
    },
    calls: Some(CALLS),
};

/// Instructions that only the kernel may run, or that the kernel may forbid, and those that refuse values of registers or of
/// memory (Intel SDM, volume 2).
const PROTECTED: &[&str] = &[
    "hlt",
    "cli",
    "sti",
    "in",
    "inb",
    "inw",
    "inl",
    "out",
    "outb",
    "outw",
    "outl",
    "insb",
    "insw",
    "insl",
    "outsb",
    "outsw",
    "outsl",
    "int",
    "rdmsr",
    "wrmsr",
    "rdpmc",
    "rdtsc",
    "rdtscp",
    "xsetbv",
    "clts",
    "lmsw",
    "invd",
    "wbinvd",
    "invlpg",
    "swapgs",
    "sysretq",
    "sysretl",
    "sysexitq",
    "lgdt",
    "lgdtq",
    "lidt",
    "lidtq",
    "lldt",
    "ltr",
    "sgdt",
    "sidt",
    "sldt",
    "smsw",
    "str",
    "wrfsbase",
    "wrgsbase",
    "wrfsbaseq",
    "wrgsbaseq",
    "ldmxcsr",
    "vldmxcsr",
    "fxrstor",
    "fxrstor64",
    "xrstor",
    "xrstor64",
    "xsave",
    "xsave64",
    "xsavec",
    "xsavec64",
    "xsaveopt",
    "xsaveopt64",
    "fxsave",
    "fxsave64",
    "lret",
    "lretq",
    "iret",
    "iretq",
    "ljmpq",
    "lcallq",
];

/// Waiting, and calls of other modules. Where threads have their ids: glibc 2.4 to 2.42, `sysdeps/x86_64/nptl/tls.h` and
/// `nptl/descr.h`; musl 1.2.3, `src/internal/pthread_impl.h`.
pub const CALLS: CallFacts = CallFacts {
    blocked: blocked_call::blocked,
    callee: callee::callee,
    glibc_tid: Some(0x2d0),
    musl_tid: Some(0x30),
};
