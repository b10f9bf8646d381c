//! One instruction, in the terms of the follower: what it does to registers and the stack, and where it leads.

use kcore_mem::Addr;

use super::decode::{displacement, signed};
use crate::follow::{Flow, Instruction, Op, Source};

/// Registers that a callee preserves.
pub const PRESERVED: [u16; 11] = [19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29];

const SIZE: u8 = 4;
const LINK: u16 = 30;
/// sp, or no register at all.
const SP: u16 = 31;
/// The program counter's DWARF number.
const PC: u16 = 32;

/// The first instruction of `bytes`, which lie at `at`.
pub fn instruction(bytes: &[u8], at: Addr) -> Option<Instruction> {
    let (bytes, _) = bytes.split_first_chunk()?;
    let word = u32::from_le_bytes(*bytes);
    let plain = Instruction::nothing(SIZE);
    let found = control(word, plain, at).unwrap_or_else(|| plain.with(&steps(word)));
    // nop, and zeros.
    Some(Instruction { is_padding: matches!(word, 0xd503_201f | 0), ..found })
}

fn field(word: u32, low: u32) -> u16 {
    (word.wrapping_shr(low) & 31) as u16
}

fn control(word: u32, plain: Instruction, at: Addr) -> Option<Instruction> {
    let target = |low, bits| at.wrapping_offset(displacement(word, low, bits));
    let flow = match word {
        // b, bl
        _ if word & 0xfc00_0000 == 0x1400_0000 => Flow::Jump(target(0, 26)),
        _ if word & 0xfc00_0000 == 0x9400_0000 => Flow::Call(Some(target(0, 26))),
        // b.cond, cbz and cbnz, tbz and tbnz
        _ if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 => {
            Flow::Branch(target(5, 19))
        }
        _ if word & 0x7e00_0000 == 0x3600_0000 => Flow::Branch(target(5, 14)),
        // blr, br, ret, each with authentication or without
        _ if word & 0xfeff_f000 == 0xd63f_0000 => Flow::Call(None),
        _ if word & 0xfeff_f000 == 0xd61f_0000 => match field(word, 5) {
            // The registers of veneers and of the linker's stubs.
            16 | 17 => Flow::TailCall,
            other => Flow::JumpRegister(other),
        },
        _ if word & 0xfeff_f000 == 0xd65f_0000 => {
            let is_plain = word & 0x800 == 0;
            let from = if is_plain { field(word, 5) } else { LINK };
            let to = Op::Set(PC, Source::Register(from, 0));
            return Some(plain.with(&[to]).going(Flow::Return));
        }
        // brk, udf
        _ if word & 0xffe0_001f == 0xd420_0000 || word & 0xffff_0000 == 0 => Flow::Stop,
        _ => return None,
    };
    Some(plain.going(flow))
}

/// What an instruction does to registers and the stack, by the groups of C4.1.
fn steps(word: u32) -> [Op; 4] {
    match (word >> 25) & 15 {
        8 | 9 => one(immediate(word)),
        4 | 6 | 12 | 14 => memory(word),
        5 | 13 => one(by_register(word)),
        7 | 15 if moves_from_vector(word) => one(set(field(word, 0), Source::Unknown)),
        _ => one(Op::None),
    }
}

const fn one(op: Op) -> [Op; 4] {
    [op, Op::None, Op::None, Op::None]
}

/// A register that is set; where 31 means none.
fn set(to: u16, source: Source) -> Op {
    if to == SP { Op::None } else { Op::Set(to, source) }
}

/// Data processing with an immediate: only here and with extended registers 31 is sp.
fn immediate(word: u32) -> Op {
    let (to, from) = (field(word, 0), field(word, 5));
    if word & 0xbf80_0000 == 0x9100_0000 {
        let shift = if word & (1 << 22) != 0 { 12 } else { 0 };
        let amount = i64::from((word >> 10) & 0xfff) << shift;
        let amount = if word & (1 << 30) != 0 { amount.wrapping_neg() } else { amount };
        return Op::Set(to, Source::Register(from, amount));
    }
    // and of 64 bits
    let is_and = word & 0xff80_0000 == 0x9200_0000;
    if is_and && to == SP { Op::Align(SP) } else { set(to, Source::Unknown) }
}

fn by_register(word: u32) -> Op {
    let (to, from) = (field(word, 0), field(word, 16));
    // mov, which is orr with the register of zeros
    if word & 0xffe0_ffe0 == 0xaa00_03e0 && from != SP {
        return set(to, Source::Register(from, 0));
    }
    // add and sub of 64 bits with an extended register that write no flags
    if word & 0xbfe0_0000 == 0x8b20_0000 {
        return Op::Set(to, Source::Unknown);
    }
    set(to, Source::Unknown)
}

/// Whether it moves a value from a vector register to a general one: fmov, fcvtzs …, umov, smov.
const fn moves_from_vector(word: u32) -> bool {
    let converts = word & 0x5f20_fc00 == 0x1e20_0000 && !matches!((word >> 16) & 7, 2 | 3);
    converts || word & 0xbfe0_ec00 == 0x0e00_2c00
}

/// Loads and stores.
fn memory(word: u32) -> [Op; 4] {
    let is_vector = word & (1 << 26) != 0;
    match word {
        _ if word & 0x3a00_0000 == 0x2800_0000 => pair(word, is_vector),
        // unscaled, post-indexed, unprivileged, pre-indexed
        _ if word & 0x3b20_0000 == 0x3800_0000 => {
            let is_load = word & 0x00c0_0000 != 0;
            let is_whole = word & 0xff80_0000 == 0xf800_0000;
            let index = (word >> 10) & 3;
            transfer(word, is_load, is_whole, is_vector, index, signed(word, 12, 9))
        }
        // with an unsigned offset
        _ if word & 0x3b00_0000 == 0x3900_0000 => {
            let is_load = word & 0x00c0_0000 != 0;
            let is_whole = word & 0xff80_0000 == 0xf900_0000;
            let offset = i64::from((word >> 10) & 0xfff).wrapping_mul(8);
            transfer(word, is_load, is_whole, is_vector, 0, offset)
        }
        // Vectors of structures move their base by a register or a constant.
        _ if word & 0xbe80_0000 == 0x0c80_0000 => one(moved_somewhere(word)),
        // Literals, atomics and all others: what they might load into is lost.
        _ if is_vector => one(Op::None),
        _ => [
            set(field(word, 0), Source::Unknown),
            set(field(word, 16), Source::Unknown),
            Op::None,
            Op::None,
        ],
    }
}

fn moved_somewhere(word: u32) -> Op {
    Op::Set(field(word, 5), Source::Unknown)
}

fn moved(base: u16, by: i64) -> Op {
    if by == 0 { Op::None } else { Op::Set(base, Source::Register(base, by)) }
}

/// One register. `index`: 1 moves the base after it, 3 before it.
fn transfer(
    word: u32,
    is_load: bool,
    is_whole: bool,
    is_vector: bool,
    index: u32,
    offset: i64,
) -> [Op; 4] {
    let (register, base) = (field(word, 0), field(word, 5));
    let (before, at, after) = match index {
        1 => (0, 0, offset),
        3 => (offset, 0, 0),
        _ => (0, offset, 0),
    };
    let access = if is_vector { Op::None } else { access(is_load, is_whole, register, base, at) };
    [moved(base, before), access, moved(base, after), Op::None]
}

fn access(is_load: bool, is_whole: bool, register: u16, base: u16, offset: i64) -> Op {
    match (is_load, is_whole) {
        (true, true) => set(register, Source::Load(base, offset)),
        (true, false) => set(register, Source::Unknown),
        (false, true) => Op::Store(base, offset, (register != SP).then_some(register)),
        (false, false) => Op::None,
    }
}

/// Two registers.
fn pair(word: u32, is_vector: bool) -> [Op; 4] {
    let is_load = word & (1 << 22) != 0;
    let kind = word >> 30;
    let size = match (is_vector, kind) {
        (true, 2) => 16,
        (true, 1) | (false, 2) => 8,
        _ => 4,
    };
    let is_whole = !is_vector && kind == 2;
    let offset = signed(word, 15, 7).wrapping_mul(size);
    let (first, second, base) = (field(word, 0), field(word, 10), field(word, 5));
    let (before, at, after) = match (word >> 23) & 3 {
        1 => (0, 0, offset),
        3 => (offset, 0, 0),
        _ => (0, offset, 0),
    };
    if is_vector {
        return [moved(base, before), moved(base, after), Op::None, Op::None];
    }
    let accesses = [
        access(is_load, is_whole, first, base, at),
        access(is_load, is_whole, second, base, at.wrapping_add(size)),
    ];
    let [one, two] = accesses;
    [moved(base, before), one, two, moved(base, after)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: u32) -> Instruction {
        instruction(&word.to_le_bytes(), Addr::new(0x1000)).unwrap()
    }

    /// Words as GNU as 2.40 encodes them.
    #[test]
    fn what_moves_the_stack_pointer_and_saves_registers_is_told() {
        assert_eq!(of(0xd100_83ff).ops[0], Op::Set(31, Source::Register(31, -32)), "sub sp");
        let pushed = of(0xa9be_7bfd).ops;
        let expected = [
            Op::Set(31, Source::Register(31, -32)),
            Op::Store(31, 0, Some(29)),
            Op::Store(31, 8, Some(30)),
            Op::None,
        ];
        assert_eq!(pushed, expected, "stp x29, x30, [sp, #-32]!");
        let popped = of(0xa8c2_7bfd).ops;
        assert_eq!(popped[1], Op::Set(29, Source::Load(31, 0)), "ldp x29, x30, [sp], #32");
        assert_eq!(popped[3], Op::Set(31, Source::Register(31, 32)));
        assert_eq!(of(0x9100_03fd).ops[0], Op::Set(29, Source::Register(31, 0)), "mov x29, sp");
        assert_eq!(of(0xf940_0bf3).ops[1], Op::Set(19, Source::Load(31, 16)), "ldr x19, [sp, #16]");
    }

    #[test]
    fn where_control_goes_is_told() {
        assert_eq!(of(0xd65f_03c0).flow, Flow::Return);
        assert_eq!(of(0xd65f_03c0).ops[0], Op::Set(32, Source::Register(30, 0)));
        assert_eq!(of(0x1400_0002).flow, Flow::Jump(Addr::new(0x1008)));
        assert_eq!(of(0x9400_0002).flow, Flow::Call(Some(Addr::new(0x1008))));
        assert_eq!(of(0xd61f_0220).flow, Flow::TailCall, "br x17");
        assert_eq!(of(0xd61f_0000).flow, Flow::JumpRegister(0), "br x0");
        assert_eq!(of(0xd420_0020).flow, Flow::Stop, "brk");
    }

    #[test]
    fn what_changes_a_register_is_told() {
        assert_eq!(of(0x8b01_0013).ops[0], Op::Set(19, Source::Unknown), "add x19, x0, x1");
        assert_eq!(of(0xeb01_001f).ops[0], Op::None, "cmp x0, x1");
        assert_eq!(of(0xaa00_03f3).ops[0], Op::Set(19, Source::Register(0, 0)), "mov x19, x0");
        assert_eq!(of(0xd280_0013).ops[0], Op::Set(19, Source::Unknown), "mov x19, #0");
    }
}
