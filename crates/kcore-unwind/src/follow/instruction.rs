//! What one instruction does, in terms that all machines share.

use kcore_mem::Addr;

/// Steps that one instruction takes, at most: a load of two registers that moves the stack pointer before or
/// after.
const MAX_OPS: usize = 4;

/// One instruction. Registers have their DWARF numbers; the program counter is a register as well.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Bytes.
    pub len: u8,
    /// What it does to registers and memory, in this order.
    pub ops: [Op; MAX_OPS],
    /// Where control goes.
    pub flow: Flow,
    /// Whether it is what assemblers fill gaps with.
    pub is_padding: bool,
}

/// One step of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// Nothing that matters.
    None,
    /// A register gets a value.
    Set(u16, Source),
    /// The low bits of a register become 0.
    Align(u16),
    /// A word is stored at a register plus a constant: the value of a register, or something else.
    Store(u16, i64, Option<u16>),
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The code alone does not tell.
    Unknown,
    /// A register plus a constant.
    Register(u16, i64),
    /// The word at a register plus a constant.
    Load(u16, i64),
}

/// Where control goes after an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// To the next one.
    Next,
    /// To the next one or there.
    Branch(Addr),
    /// There.
    Jump(Addr),
    /// To where a register says.
    JumpRegister(u16),
    /// Into another function, which returns in place of this one.
    TailCall,
    /// To a function, which comes back unless it never returns.
    Call(Option<Addr>),
    /// To the program counter that was set.
    Return,
    /// Nowhere: it traps.
    Stop,
    /// The code does not tell, or the instruction is none that is known.
    Unknown,
}

impl Instruction {
    /// An instruction that does nothing that matters.
    pub const fn nothing(len: u8) -> Self {
        Self { len, ops: [Op::None; MAX_OPS], flow: Flow::Next, is_padding: false }
    }

    /// The same instruction with steps; more than it can have make it one that is not known.
    #[must_use]
    pub fn with(mut self, ops: &[Op]) -> Self {
        match self.ops.get_mut(..ops.len()) {
            Some(room) => room.copy_from_slice(ops),
            None => self.flow = Flow::Unknown,
        }
        self
    }

    /// The same instruction with another way for control to go.
    #[must_use]
    pub const fn going(mut self, flow: Flow) -> Self {
        self.flow = flow;
        self
    }
}
