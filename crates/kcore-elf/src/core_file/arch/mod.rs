//! Notes that only one architecture has.

mod aarch64;
mod i386;
mod signals;
mod x86_64;

use kcore_mem::{Addr, Arch, Target};

pub use signals::shared_number;

/// What such a note says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchNote {
    /// Where the thread-local storage of the latest thread lies.
    ThreadPointer(Addr),
    /// Segments of the latest thread by their numbers, one of which is that of its local storage.
    Segments([(u32, Addr); 3]),
    /// The bits of a code address that hold its authentication code.
    CodeMask(u64),
    /// The floating-point registers of the latest thread, where another note has more of them than `NT_FPREGSET`.
    FpRegisters,
    /// All registers of the latest thread that the architecture added since its first days.
    ExtendedRegisters,
    /// Where [`ArchNote::ExtendedRegisters`] have each of them.
    ExtendedLayout,
}

/// Reads a note of owner `LINUX`; `None` when it says nothing that is asked for, or is too short.
pub fn read_note(kind: u32, desc: &[u8], target: Target) -> Option<ArchNote> {
    match target.arch {
        Arch::Aarch64 => aarch64::read_note(kind, desc, target),
        Arch::I386 => i386::read_note(kind, desc, target),
        Arch::X86_64 => x86_64::read_note(kind),
        // `NT_ARM_VFP`: `NT_FPREGSET` has the registers of the floating-point accelerator that came before it.
        Arch::Arm if kind == 0x400 => Some(ArchNote::FpRegisters),
        _ => None,
    }
}
