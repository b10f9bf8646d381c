//! Notes of i386 (Linux `include/uapi/linux/elf.h`, `arch/x86/kernel/tls.c`).

use kcore_mem::{Addr, Cursor, Target};

use super::{ArchNote, x86_64};

/// The segments that the thread set for its local storage: `struct user_desc`, three of them.
const NT_386_TLS: u32 = 0x200;

/// The registers in the format of the `FXSAVE` instruction: those of SSE beside what `NT_FPREGSET` has.
const NT_PRXFPREG: u32 = 0x46e6_2b7f;

/// Reads a note.
pub fn read_note(kind: u32, desc: &[u8], target: Target) -> Option<ArchNote> {
    match kind {
        NT_386_TLS => segments(desc, target),
        NT_PRXFPREG => Some(ArchNote::FpRegisters),
        _ => x86_64::read_note(kind),
    }
}

fn segments(desc: &[u8], target: Target) -> Option<ArchNote> {
    let mut cursor = Cursor::new(desc, target);
    let mut segments = [(0, Addr::new(0)); 3];
    for segment in &mut segments {
        let Ok(number) = cursor.u32() else { break };
        *segment = (number, Addr::new(cursor.u32().ok()?.into()));
        // The limit, and flags.
        cursor.skip(8).ok()?;
    }
    Some(ArchNote::Segments(segments))
}

#[cfg(test)]
mod tests {
    use kcore_mem::Arch;

    use super::*;

    #[test]
    fn a_segment_has_its_number_and_its_base() {
        let target = Target { arch: Arch::I386, word: 4, ..Target::X86_64 };
        let words = [12_u32, 0xf7d0_0740, 0xfffff, 0x51, 13, 0, 0, 0x28, 14, 0, 0, 0x28];
        let found = read_note(0x200, &words.map(u32::to_le_bytes).concat(), target);
        let zero = Addr::new(0);
        let expected = [(12, Addr::new(0xf7d0_0740)), (13, zero), (14, zero)];
        assert_eq!(found, Some(ArchNote::Segments(expected)));
        assert_eq!(read_note(0x201, &[0; 48], target), None);
        assert_eq!(read_note(0x46e6_2b7f, &[0; 512], target), Some(ArchNote::FpRegisters));
        assert_eq!(read_note(0x202, &[0; 48], target), Some(ArchNote::ExtendedRegisters));
    }
}
