//! A frame made by hand.

use std::{collections::HashMap, sync::Arc};

use kcore_mem::{Addr, AddressSpace, Budget, Fault, Origin, Region, Svma, Target};
use kcore_symbols::{CallParameter, CallSite, CallTarget, Expression, VariableLocation};

use crate::{
    Absent,
    location::{Call, FrameContext},
};

/// Where the memory begins.
pub const MEMORY: u64 = 0x1000;
/// What is added to addresses of the file.
pub const BIAS: u64 = 0x10_0000;

/// Sixteen bytes at [`MEMORY`], each its own number; what lies right behind was not dumped.
pub struct Memory([u8; 16]);

impl AddressSpace for Memory {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        let offset = at.offset_from(Addr::new(MEMORY)).ok_or(Fault::Unmapped(at))? as usize;
        match offset {
            0..16 => Ok(&self.0[offset..]),
            16..32 => Err(Fault::NotDumped(at)),
            _ => Err(Fault::Unmapped(at)),
        }
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}

/// A frame with what the test gives it.
pub struct Frame {
    memory: Memory,
    pub registers: HashMap<u16, Vec<u8>>,
    pub cfa: Option<Addr>,
    pub frame_base: VariableLocation,
    pub call: Option<(CallSite, Box<Frame>)>,
    pub budget: Option<Budget>,
}

impl Frame {
    /// Nothing is known but memory.
    pub fn new() -> Self {
        Self {
            memory: Memory(std::array::from_fn(|index| index as u8)),
            registers: HashMap::new(),
            cfa: None,
            frame_base: VariableLocation::OptimizedOut,
            call: None,
            budget: None,
        }
    }

    /// The same, with a general register.
    pub fn with(mut self, number: u16, value: u64) -> Self {
        self.registers.insert(number, value.to_le_bytes().to_vec());
        self
    }

    /// The same, called by `caller`, which passed the value of an expression in a register.
    pub fn called(mut self, caller: Self, register: u8, value: &[u8]) -> Self {
        let parameter = CallParameter {
            location: Some(expression(&[0x50 + register])),
            parameter: None,
            value: Some(expression(value)),
            data_value: Some(expression(&[0x08, 99])),
        };
        let site = CallSite { target: CallTarget::Unknown, parameters: vec![parameter] };
        self.call = Some((site, Box::new(caller)));
        self
    }
}

impl FrameContext for Frame {
    fn space(&self) -> &dyn AddressSpace {
        &self.memory
    }

    fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    fn register(&self, number: u16) -> Option<Arc<[u8]>> {
        self.registers.get(&number).map(|bytes| bytes.as_slice().into())
    }

    fn cfa(&self) -> Option<Addr> {
        self.cfa
    }

    fn frame_base(&self) -> Option<&VariableLocation> {
        Some(&self.frame_base)
    }

    fn pc(&self) -> Option<Svma> {
        None
    }

    fn relocated(&self, at: Svma) -> Option<Addr> {
        Some(Addr::new(at.get() + BIAS))
    }

    fn thread_local(&self, offset: u64) -> Result<Addr, Absent> {
        Ok(Addr::new(0x7000 + offset))
    }

    fn call(&self) -> Option<Call<'_>> {
        let (site, caller) = self.call.as_ref()?;
        Some(Call { site, frame: Box::new(Borrowed(caller)) })
    }
}

/// A frame that somebody else holds.
struct Borrowed<'a>(&'a Frame);

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

/// An expression of DWARF 5 for addresses of 8 bytes.
pub fn expression(bytes: &[u8]) -> Expression {
    Expression::made(bytes, 8)
}
