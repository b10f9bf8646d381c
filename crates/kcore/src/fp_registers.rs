//! Floating-point and vector registers of a thread.

use crate::{
    RegisterView, Tid,
    arch::{Aarch64FpRegisters, PlainFpRegister, X86FpRegisters, read_fp_registers},
};
use kcore_mem::Arch;

/// Floating-point and vector registers, by architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FpRegisters {
    /// x87, SSE, and what came after it, of x86-64 and i386.
    X86(Box<X86FpRegisters>),
    /// The SIMD and floating-point registers, and those of SVE.
    Aarch64(Aarch64FpRegisters),
    /// Those of other machines, in the order in which the kernel writes them.
    Plain(Vec<PlainFpRegister>),
}

impl FpRegisters {
    /// The bytes of a register by its DWARF number, lowest first.
    pub(crate) fn by_dwarf_number(&self, number: u16) -> Option<Vec<u8>> {
        match self {
            Self::X86(registers) => registers.by_dwarf_number(number),
            Self::Aarch64(registers) => registers.by_dwarf_number(number),
            Self::Plain(_) => None,
        }
    }
}

impl RegisterView<'_> {
    /// The floating-point registers of a thread; `None` when the core does not hold them.
    pub fn floating_point(self, tid: Tid) -> Option<FpRegisters> {
        let thread = self.core.thread(tid)?;
        let bytes = |range: &Option<std::ops::Range<u64>>| self.core.file_bytes(range.clone()?);
        let basic = bytes(&thread.fp_registers);
        match self.core.arch() {
            Arch::X86_64 | Arch::I386 => {
                let is_i386 = self.core.arch() == Arch::I386;
                let extended = bytes(&thread.extended_registers);
                let layout = bytes(&self.core.file()?.extended_layout().cloned());
                X86FpRegisters::parse(basic, extended, layout, is_i386)
                    .map(|read| FpRegisters::X86(Box::new(read)))
            }
            Arch::Aarch64 => {
                let scalable = bytes(&thread.extended_registers);
                Aarch64FpRegisters::parse(basic?, scalable, self.core.target())
                    .map(FpRegisters::Aarch64)
            }
            _ => read_fp_registers(basic?, self.core.target()).map(FpRegisters::Plain),
        }
    }
}
