//! The facts of machines that the unwinder knows by a description: system calls, and where thread-local storage lies.
//! Each is checked on the places that programs print of themselves, but where it says otherwise.

use super::{
    ArchFacts, CallFacts, TlsLayout, aarch64, arm, i386, mips, powerpc, s390, variant_one::layout,
    x86_64,
};

/// What differs from machine to machine.
const fn facts(
    system_calls: &'static [(u64, &'static str)],
    thread_pointer: &'static str,
    tls: Option<TlsLayout>,
) -> ArchFacts {
    ArchFacts { system_calls, thread_pointer, tls, ..ArchFacts::UNKNOWN }
}

/// i386: as x86-64, with words of four bytes.
pub const I386: ArchFacts = facts(i386::NAMES, "gsbase", Some(below(4)));

/// s390x.
pub const S390X: ArchFacts = facts(s390::NAMES, "tp", Some(below(8)));

/// 32-bit Arm, whose cores do not hold the thread pointer.
pub const ARM: ArchFacts = facts(arm::NAMES, "", Some(layout::<8>(0, -4, 0)));

/// RISC-V of 64 bits, whose system calls have the numbers of all younger architectures.
pub const RISCV64: ArchFacts = facts(aarch64::SYSTEM_CALLS, "tp", Some(layout::<0>(-16, -8, 32)));

/// LoongArch, by its sources: no program was seen.
pub const LOONGARCH64: ArchFacts =
    facts(aarch64::SYSTEM_CALLS, "tp", Some(layout::<0>(-16, -8, 32)));

/// PowerPC of 64 bits.
pub const POWERPC64: ArchFacts =
    facts(powerpc::NAMES64, "r13", Some(layout::<-0x7000>(-0x7008, -0x7008, 0x7000 + 128)));

/// PowerPC of 32 bits.
pub const POWERPC: ArchFacts =
    facts(powerpc::NAMES, "r2", Some(layout::<-0x7000>(-0x7004, -0x7004, 0x7000 + 64)));

/// MIPS, interface o32, whose cores do not hold the thread pointer.
pub const MIPS: ArchFacts = ArchFacts {
    first_system_call: 4000,
    ..facts(mips::NAMES, "", Some(layout::<-0x7000>(-0x7008, -0x7004, 0x7000 + 32)))
};

/// MIPS, interface n64, whose cores do not hold the thread pointer.
pub const MIPS64: ArchFacts = ArchFacts {
    first_system_call: 5000,
    ..facts(mips::NAMES64, "", Some(layout::<-0x7000>(-0x7010, -0x7008, 0x7000 + 32)))
};

/// MIPS, interface n32: the words of o32.
pub const MIPS_N32: ArchFacts =
    ArchFacts { first_system_call: 6000, ..facts(mips::NAMES_N32, "", MIPS.tls) };

/// x32: as x86-64, with words of four bytes.
pub const X32: ArchFacts = ArchFacts {
    tls: Some(below(4)),
    calls: Some(CallFacts { glibc_tid: None, musl_tid: None, ..x86_64::CALLS }),
    ..x86_64::FACTS
};

/// Variant II: as on x86-64, with words of `word` bytes.
const fn below(word: i64) -> TlsLayout {
    TlsLayout { glibc_dtv: word, musl_dtv: word, errno_offset: |_| None, ..x86_64::TLS }
}
