//! Where gcc's part of a coroutine that goes on leads, for the point at which one is suspended.
//!
//! It begins with a jump that depends on nothing but the number of that point (`gcc/cp/coroutines.cc`, `build_actor_fn`). The
//! few instructions up to there are followed here, on x86-64 alone, with the frame as it lies in memory. What they do
//! not follow from the number ends the way.

use kcore_mem::{Addr, AddressSpace, Arch};
use rustc_hash::FxHashMap;

use super::{
    code::{Code, Operand},
    flags::Flags,
    layout::IndexPlace,
};

/// Instructions that are followed.
const MAX_STEPS: usize = 128;
/// Where the stack pointer is thought to be, and how far from there the stack reaches.
const STACK: u64 = 0x7f7f_0000_0000;
const STACK_SIZE: u64 = 1 << 20;
const RSP: usize = 4;
const RDI: usize = 7;

/// A value of so many bytes, as far as it is known.
type RegisterValue = Option<u64>;

/// The registers and the stack of a coroutine that goes on.
struct ResumePath<'a> {
    space: &'a dyn AddressSpace,
    frame: u64,
    index: IndexPlace,
    registers: [RegisterValue; 16],
    stack: FxHashMap<u64, (usize, RegisterValue)>,
    flags: Flags,
    /// Where the last jump led that was decided by what is known.
    landing: Option<Addr>,
}

/// What follows an instruction.
enum Next {
    /// The one behind it.
    Behind,
    /// Another one.
    At(u64),
    /// Nothing that is known.
    End,
}

/// Where a coroutine goes on whose frame lies at `frame`; `None` if that does not follow from the number of its point.
pub fn landing(
    space: &dyn AddressSpace,
    resume: Addr,
    frame: Addr,
    index: IndexPlace,
) -> Option<Addr> {
    (space.target().arch == Arch::X86_64).then_some(())?;
    let mut registers = [None; 16];
    *registers.get_mut(RSP)? = Some(STACK);
    *registers.get_mut(RDI)? = Some(frame.get());
    let flags = Flags::Unknown;
    let stack = FxHashMap::default();
    let frame = frame.get();
    let mut way = ResumePath { space, frame, index, registers, stack, flags, landing: None };
    let mut pc = resume.get();
    for _ in 0..MAX_STEPS {
        let bytes = space.read_held(Addr::new(pc), 16);
        let Some(code) = Code::decode(&bytes) else { break };
        let behind = pc.wrapping_add(code.len);
        match way.follow(&code, behind) {
            Next::Behind => pc = behind,
            Next::At(to) => pc = to,
            Next::End => break,
        }
    }
    way.landing
}

impl ResumePath<'_> {
    fn follow(&mut self, code: &Code, behind: u64) -> Next {
        match code.opcode {
            0x0f0b | 0x0fb9 => {
                self.landing = None;
                Next::End
            }
            0x0f80..=0x0f8f => self.branch(code, behind),
            0xe9 => Next::At(behind.wrapping_add(code.immediate)),
            0x104 => self.jump(code, behind),
            _ => match self.plain(code, behind) {
                Some(()) => Next::Behind,
                None => Next::End,
            },
        }
    }

    fn branch(&mut self, code: &Code, behind: u64) -> Next {
        let condition = u8::try_from(code.opcode & 0xf).unwrap_or_default();
        let Some(is_taken) = self.flags.holds(condition) else { return Next::End };
        let to = if is_taken { behind.wrapping_add(code.immediate) } else { behind };
        self.landing = Some(Addr::new(to));
        Next::At(to)
    }

    fn jump(&mut self, code: &Code, behind: u64) -> Next {
        let Some(to) = self.load(&code.operand, 8, behind) else { return Next::End };
        self.landing = Some(Addr::new(to));
        Next::At(to)
    }

    /// An instruction that moves or computes; `None` of one that is not followed.
    fn plain(&mut self, code: &Code, behind: u64) -> Option<()> {
        let size = code.size;
        match code.opcode {
            // nop and endbr64
            0x90 | 0x0f1f | 0x0f1e => Some(()),
            0x50 => {
                let sp = self.registers.get(RSP).copied()??.wrapping_sub(8);
                let value = self.register(code.register);
                self.set(RSP, Some(sp), 8);
                self.stack.insert(sp, (8, value));
                Some(())
            }
            0xb8 => {
                self.set(code.register, Some(code.immediate), size);
                Some(())
            }
            0x89 => {
                let value = masked(self.register(code.register), size);
                self.store(&code.operand, value, size, behind)
            }
            0xc7 => self.store(&code.operand, masked(Some(code.immediate), size), size, behind),
            0x8b => {
                let value = self.load(&code.operand, size, behind);
                self.set(code.register, value, size);
                Some(())
            }
            0x0fb6 | 0x0fb7 => {
                let from = if code.opcode == 0x0fb6 { 1 } else { 2 };
                let value = self.load(&code.operand, from, behind);
                self.set(code.register, value, size);
                Some(())
            }
            0x63 => {
                let value = self.load(&code.operand, 4, behind).map(sign_extended);
                self.set(code.register, value, size);
                Some(())
            }
            0x8d => {
                let at = self.address(&code.operand, behind);
                self.set(code.register, at, size);
                Some(())
            }
            0x98 if size == 8 => {
                let value = masked(self.register(0), 4).map(sign_extended);
                self.set(0, value, size);
                Some(())
            }
            _ => self.arithmetic(code, behind),
        }
    }

    /// `0x200 + 8 * operation`, with bits for the kind of operands: see [`Code::opcode`].
    fn arithmetic(&mut self, code: &Code, behind: u64) -> Option<()> {
        let size = code.size;
        let (left, right) = match code.opcode & 0xf00 {
            0x200 => (self.load(&code.operand, size, behind), Some(code.immediate)),
            0x300 => (self.load(&code.operand, size, behind), self.register(code.register)),
            0x400 => (self.register(code.register), self.load(&code.operand, size, behind)),
            _ => return None,
        };
        let operation = code.opcode & 0xff;
        let values = masked(left, size).zip(masked(right, size));
        let result = values.and_then(|(left, right)| match operation {
            0 => Some(left.wrapping_add(right)),
            1 => Some(left | right),
            4 | TEST => Some(left & right),
            5 | 7 => Some(left.wrapping_sub(right)),
            6 => Some(left ^ right),
            _ => None,
        });
        let result = masked(result, size);
        self.flags = match (operation, values, result) {
            (5 | 7, Some((left, right)), _) => Flags::Compared { left, right, size },
            (1 | 4 | 6 | TEST, _, Some(value)) => Flags::Logic { value, size },
            (BIT, Some((left, right)), _) => Flags::bit(left, right, size),
            _ => Flags::Unknown,
        };
        match operation {
            7 | TEST | BIT => Some(()),
            0 | 1 | 4 | 5 | 6 if code.opcode & 0xf00 == 0x400 => {
                self.set(code.register, result, size);
                Some(())
            }
            0 | 1 | 4 | 5 | 6 => self.store(&code.operand, result, size, behind),
            _ => None,
        }
    }

    fn register(&self, number: usize) -> RegisterValue {
        self.registers.get(number).copied().flatten()
    }

    /// Registers of 32 bits clear the upper half, smaller ones leave the rest as it was.
    fn set(&mut self, number: usize, value: RegisterValue, size: usize) {
        let old = self.register(number);
        let new = match size {
            8 => value,
            4 => masked(value, 4),
            _ => masked(value, size).zip(old).map(|(new, old)| {
                let kept = mask(size);
                (old & !kept) | new
            }),
        };
        if let Some(place) = self.registers.get_mut(number) {
            *place = new;
        }
    }

    fn address(&self, operand: &Operand, behind: u64) -> RegisterValue {
        let Operand::Memory { base, index, scale, offset } = operand else { return None };
        let base = match base {
            Some(Code::PC) => behind,
            Some(base) => self.register(*base)?,
            None => 0,
        };
        let index = index.map_or(Some(0), |index| self.register(index))?;
        Some(base.wrapping_add(index.wrapping_mul(*scale)).wrapping_add(*offset))
    }

    fn load(&self, operand: &Operand, size: usize, behind: u64) -> RegisterValue {
        if let Operand::Register(number) = operand {
            return masked(self.register(*number), size);
        }
        let at = self.address(operand, behind)?;
        if is_stack(at) {
            let (stored, value) = self.stack.get(&at)?;
            return masked(*value, size).filter(|_| size <= *stored);
        }
        let within = at.wrapping_sub(self.frame);
        if within < super::layout::MAX_FRAME {
            let from = within.checked_sub(self.index.offset)?;
            let end = usize::try_from(from).ok()?.checked_add(size)?;
            (end <= self.index.size).then_some(())?;
        }
        self.space.read_uint(Addr::new(at), size).ok()
    }

    /// Whether the value could be kept: what a coroutine does to memory other than its stack ends the way.
    fn store(
        &mut self,
        operand: &Operand,
        value: RegisterValue,
        size: usize,
        behind: u64,
    ) -> Option<()> {
        if let Operand::Register(number) = operand {
            self.set(*number, value, size);
            return Some(());
        }
        let at = self.address(operand, behind).filter(|at| is_stack(*at))?;
        self.stack.insert(at, (size, value));
        Some(())
    }
}

/// `test`, and `bt`, beside the eight operations of `0x80`.
pub const TEST: u16 = 8;
pub const BIT: u16 = 9;

fn is_stack(at: u64) -> bool {
    STACK.abs_diff(at) < STACK_SIZE
}

/// The bits of a value of so many bytes.
pub const fn mask(size: usize) -> u64 {
    match size {
        1 => 0xff,
        2 => 0xffff,
        4 => 0xffff_ffff,
        _ => u64::MAX,
    }
}

fn masked(value: RegisterValue, size: usize) -> RegisterValue {
    value.map(|value| value & mask(size))
}

const fn sign_extended(value: u64) -> u64 {
    value as u32 as i32 as i64 as u64
}
