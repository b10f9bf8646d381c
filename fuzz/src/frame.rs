//! A frame of a stack that has whatever registers the input gives it.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Svma};
use kcore_symbols::{CallSite, VariableLocation};
use kcore_values::{
    Absent,
    location::{Call, FrameContext},
};

use crate::{input::Input, memory::Memory};

/// Registers: the general ones of x86-64, its program counter, and some of its vectors.
const REGISTERS: usize = 20;
/// The first of them that is a vector.
const VECTORS: usize = 17;
/// What is added to addresses of the file.
const BIAS: u64 = 0x10_0000;
/// Where threads have their storage.
const STORAGE: u64 = 0x7000_0000;

/// A frame, of which each caller is one of the same registers.
pub struct Frame<'a> {
    /// The memory of the process.
    pub memory: &'a Memory,
    /// What is in the registers; 0 stands for what nobody saved.
    pub registers: [u64; REGISTERS],
    /// Where the frame base lies.
    pub frame_base: VariableLocation,
    /// The address of its code.
    pub pc: Svma,
    /// The call by which it began.
    pub site: Option<CallSite>,
}

impl<'a> Frame<'a> {
    /// A frame in which nothing but registers is known.
    pub fn read(input: &mut Input<'_>, memory: &'a Memory) -> Self {
        let registers = std::array::from_fn(|_| input.word());
        let (frame_base, pc) = (VariableLocation::OptimizedOut, Svma::new(0));
        Self { memory, registers, frame_base, pc, site: None }
    }
}

impl FrameContext for Frame<'_> {
    fn space(&self) -> &dyn AddressSpace {
        self.memory
    }

    fn register(&self, number: u16) -> Option<Arc<[u8]>> {
        let number = usize::from(number);
        let value = self.registers.get(number).filter(|value| **value != 0)?;
        let words = if number < VECTORS { 1 } else { 4 };
        Some(std::iter::repeat_n(value.to_le_bytes(), words).flatten().collect())
    }

    fn cfa(&self) -> Option<Addr> {
        Some(Addr::new(self.registers[7])).filter(|cfa| cfa.get() != 0)
    }

    fn frame_base(&self) -> Option<&VariableLocation> {
        Some(&self.frame_base)
    }

    fn pc(&self) -> Option<Svma> {
        Some(self.pc)
    }

    fn relocated(&self, at: Svma) -> Option<Addr> {
        at.get().checked_add(BIAS).map(Addr::new)
    }

    fn thread_local(&self, offset: u64) -> Result<Addr, Absent> {
        let at = STORAGE.checked_add(offset).ok_or(Absent::OptimizedOut)?;
        Ok(Addr::new(at))
    }

    fn call(&self) -> Option<Call<'_>> {
        Some(Call { site: self.site.as_ref()?, frame: Box::new(Borrowed(self)) })
    }
}

/// A frame that somebody else holds.
struct Borrowed<'a>(&'a Frame<'a>);

impl FrameContext for Borrowed<'_> {
    fn space(&self) -> &dyn AddressSpace {
        self.0.space()
    }

    fn register(&self, number: u16) -> Option<Arc<[u8]>> {
        self.0.register(number)
    }

    fn cfa(&self) -> Option<Addr> {
        self.0.cfa()
    }

    fn frame_base(&self) -> Option<&VariableLocation> {
        self.0.frame_base()
    }

    fn pc(&self) -> Option<Svma> {
        self.0.pc()
    }

    fn relocated(&self, at: Svma) -> Option<Addr> {
        self.0.relocated(at)
    }

    fn thread_local(&self, offset: u64) -> Result<Addr, Absent> {
        self.0.thread_local(offset)
    }

    fn call(&self) -> Option<Call<'_>> {
        self.0.call()
    }
}
