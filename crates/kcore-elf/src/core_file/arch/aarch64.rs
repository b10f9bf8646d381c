//! Notes of aarch64 (Linux `include/uapi/linux/elf.h`, `arch/arm64/kernel/ptrace.c`).

use kcore_mem::{Addr, Cursor, Target};

use super::ArchNote;

/// `tpidr_el0`, on newer kernels and processors `tpidr2_el0` behind it.
const NT_ARM_TLS: u32 = 0x401;
/// The scalable vectors (`struct user_sve_header` and what follows it); those of streaming mode, if the thread was in
/// that. Of the mode that it was not in there is the header alone.
const NT_ARM_SVE: u32 = 0x405;
const NT_ARM_SSVE: u32 = 0x40b;
/// Bytes of `struct user_sve_header`.
const SVE_HEADER: usize = 16;
/// `struct user_pac_mask`: `data_mask`, then `insn_mask`.
const NT_ARM_PAC_MASK: u32 = 0x406;

/// Reads a note.
pub fn read_note(kind: u32, desc: &[u8], target: Target) -> Option<ArchNote> {
    let mut words = Cursor::new(desc, target);
    match kind {
        NT_ARM_TLS => words.u64().ok().map(Addr::new).map(ArchNote::ThreadPointer),
        NT_ARM_PAC_MASK => {
            words.skip(8).ok()?;
            words.u64().ok().map(ArchNote::CodeMask)
        }
        NT_ARM_SVE | NT_ARM_SSVE if desc.len() > SVE_HEADER => Some(ArchNote::ExtendedRegisters),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::Arch;

    use super::*;

    const TARGET: Target = Target { arch: Arch::Aarch64, ..Target::X86_64 };

    #[test]
    fn the_mask_of_code_is_the_second_word() {
        let masks = [1_u64, 0x7f << 48].map(u64::to_le_bytes).concat();
        let read = |desc: &[u8]| read_note(NT_ARM_PAC_MASK, desc, TARGET);
        assert_eq!(read(&masks), Some(ArchNote::CodeMask(0x7f << 48)));
        assert_eq!(read(&masks[..15]), None);
    }

    #[test]
    fn scalable_vectors_are_those_of_the_mode_that_has_more_than_a_header() {
        for kind in [NT_ARM_SVE, NT_ARM_SSVE] {
            assert_eq!(read_note(kind, &[0; 16], TARGET), None);
            assert_eq!(read_note(kind, &[0; 544], TARGET), Some(ArchNote::ExtendedRegisters));
        }
    }
}
