//! The scalable vectors of SVE: `struct user_sve_header` and what follows it (Linux
//! `arch/arm64/include/uapi/asm/ptrace.h` and `sve_context.h`), which `NT_ARM_SVE` holds, `NT_ARM_SSVE` in streaming mode.

use kcore_mem::{Cursor, Target};

use crate::arch::VectorRegister;

/// `SVE_PT_REGS_SVE`: the note has the registers of SVE, and not those of SIMD alone.
const REGISTERS_OF_SVE: u16 = 1;
/// Bytes of a vector by which its length counts.
const QUAD: u16 = 16;
/// Longest vector of the architecture, in bytes.
const MAX_LENGTH: u16 = 256;

/// The registers of SVE, in the mode that the thread was in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalableRegisters {
    /// Bytes in a vector: a multiple of 16.
    pub vector_length: u16,
    /// z0 to z31.
    pub vectors: Vec<VectorRegister>,
    /// p0 to p15: a bit for each byte of a vector.
    pub predicates: Vec<VectorRegister>,
    /// ffr.
    pub first_fault: VectorRegister,
}

impl ScalableRegisters {
    /// Reads the note; `None` when the thread used no more than SIMD, or when the note is too short.
    pub(crate) fn parse(bytes: &[u8], target: Target) -> Option<Self> {
        let mut cursor = Cursor::new(bytes, target);
        // Sizes: of the note, and of the longest one.
        cursor.skip(8).ok()?;
        let vector_length = cursor.u16().ok()?;
        cursor.skip(2).ok()?;
        let flags = cursor.u16().ok()?;
        cursor.skip(2).ok()?;
        let is_length =
            (QUAD..=MAX_LENGTH).contains(&vector_length) && vector_length.is_multiple_of(QUAD);
        if !is_length || flags & REGISTERS_OF_SVE == 0 {
            return None;
        }
        let mut register =
            |size: u16| Some(VectorRegister(cursor.bytes(size.into()).ok()?.to_vec()));
        let vectors = (0..32).map(|_| register(vector_length)).collect::<Option<_>>()?;
        let bits = vector_length / 8;
        let predicates = (0..16).map(|_| register(bits)).collect::<Option<_>>()?;
        Some(Self { vector_length, vectors, predicates, first_fault: register(bits)? })
    }

    /// vg is 46, ffr 47, p0 to p15 are 48 to 63, z0 to z31 are 96 to 127 (DWARF for the Arm 64-bit Architecture, 4.1).
    pub(crate) fn by_dwarf_number(&self, number: u16) -> Option<Vec<u8>> {
        let of = |registers: &[VectorRegister], index: u16| {
            registers.get(usize::from(index)).map(|register| register.0.clone())
        };
        match number {
            46 => Some(u64::from(self.vector_length / 8).to_le_bytes().to_vec()),
            47 => Some(self.first_fault.0.clone()),
            48..=63 => of(&self.predicates, number - 48),
            96..=127 => of(&self.vectors, number - 96),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A note of vectors of `length` bytes, whose bytes are their numbers.
    pub fn note(length: u16, flags: u16) -> Vec<u8> {
        let mut note = vec![0; 8];
        for half in [length, length, flags, 0] {
            note.extend_from_slice(&half.to_le_bytes());
        }
        (0..32).for_each(|z: u8| note.extend(vec![z; length.into()]));
        (0..17).for_each(|p: u8| note.extend(vec![p + 0x40; usize::from(length / 8)]));
        note
    }

    #[test]
    fn vectors_are_as_long_as_the_note_says() {
        for length in [16, 32, 256] {
            let read = ScalableRegisters::parse(&note(length, 1), Target::X86_64).unwrap();
            assert_eq!(read.vectors[31].0, vec![31; length.into()]);
            assert_eq!(read.predicates[15].0, vec![0x4f; usize::from(length / 8)]);
            assert_eq!(read.by_dwarf_number(47).unwrap(), vec![0x50; usize::from(length / 8)]);
            assert_eq!(read.by_dwarf_number(46).unwrap()[..2], [(length / 8) as u8, 0]);
            assert_eq!(read.by_dwarf_number(96 + 5).unwrap(), read.vectors[5].0);
            assert_eq!((read.by_dwarf_number(64), read.by_dwarf_number(128)), (None, None));
        }
    }

    #[test]
    fn what_is_no_note_of_sve_is_not_read_as_one() {
        let parse = |bytes: &[u8]| ScalableRegisters::parse(bytes, Target::X86_64);
        assert_eq!(parse(&note(32, 0)), None, "the registers of SIMD");
        assert_eq!(parse(&note(24, 1)), None, "no multiple of 16");
        assert_eq!(parse(&note(0, 1)), None);
        assert_eq!(parse(&note(512, 1)), None, "longer than the architecture has them");
        let whole = note(32, 1);
        assert_eq!(parse(&whole[..whole.len() - 1]), None);
    }
}
