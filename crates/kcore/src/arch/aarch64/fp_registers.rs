//! The SIMD and floating-point registers: `struct user_fpsimd_state` (Linux
//! `arch/arm64/include/uapi/asm/ptrace.h`), which `NT_FPREGSET` holds.

use kcore_mem::{Cursor, Target};

use super::ScalableRegisters;

/// The SIMD and floating-point registers of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aarch64FpRegisters {
    /// v0 to v31.
    pub vectors: Vec<u128>,
    /// The status register.
    pub fpsr: u32,
    /// The control register.
    pub fpcr: u32,
    /// The registers of SVE, of which v0 to v31 are the lowest 128 bits; `None` where the thread used none.
    pub scalable: Option<ScalableRegisters>,
}

impl Aarch64FpRegisters {
    /// Reads the notes; `None` when the first is too short.
    pub(crate) fn parse(basic: &[u8], scalable: Option<&[u8]>, target: Target) -> Option<Self> {
        let mut cursor = Cursor::new(basic, target);
        let mut vectors = Vec::with_capacity(32);
        for _ in 0..32 {
            let (low, high) = (cursor.u64().ok()?, cursor.u64().ok()?);
            vectors.push(u128::from(high) << 64 | u128::from(low));
        }
        let (fpsr, fpcr) = (cursor.u32().ok()?, cursor.u32().ok()?);
        let scalable = scalable.and_then(|bytes| ScalableRegisters::parse(bytes, target));
        Some(Self { vectors, fpsr, fpcr, scalable })
    }

    /// v0 to v31 are 64 to 95 (DWARF for the Arm 64-bit Architecture, 4.1).
    pub(crate) fn by_dwarf_number(&self, number: u16) -> Option<Vec<u8>> {
        if let Some(found) = self.scalable.as_ref().and_then(|it| it.by_dwarf_number(number)) {
            return Some(found);
        }
        let vector = self.vectors.get(usize::from(number.checked_sub(64)?))?;
        Some(vector.to_le_bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_first_and_the_status_behind_them() {
        let mut bytes: Vec<u8> = (0..32_u128).flat_map(|n| (n << 100 | n).to_le_bytes()).collect();
        bytes.extend([0x10, 0, 0, 0x08, 0, 0, 0xc0, 0]);
        let read = Aarch64FpRegisters::parse(&bytes, None, Target::X86_64).unwrap();
        assert_eq!(read.vectors[31], 31 << 100 | 31);
        assert_eq!(read.by_dwarf_number(64 + 31).unwrap(), (31_u128 << 100 | 31).to_le_bytes());
        assert_eq!((read.by_dwarf_number(31), read.by_dwarf_number(96)), (None, None));
        assert_eq!((read.fpsr, read.fpcr), (0x0800_0010, 0x00c0_0000));
        assert_eq!(Aarch64FpRegisters::parse(&bytes[..519], None, Target::X86_64), None);
    }
}
