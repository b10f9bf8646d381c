//! Notes of x86-64 (Linux `include/uapi/linux/elf.h`).

use super::ArchNote;

/// The registers in the format of the `XSAVE` instruction.
const NT_X86_XSTATE: u32 = 0x202;
/// Where that format has each of its components; written since Linux 6.12.
const NT_X86_XSAVE_LAYOUT: u32 = 0x205;

/// Reads a note.
pub const fn read_note(kind: u32) -> Option<ArchNote> {
    match kind {
        NT_X86_XSTATE => Some(ArchNote::ExtendedRegisters),
        NT_X86_XSAVE_LAYOUT => Some(ArchNote::ExtendedLayout),
        _ => None,
    }
}
