//! One instruction, in the terms of the follower: what it does to registers and the stack, and where it leads.

use kcore_mem::Addr;

use super::{
    decode::{Decoded, decode, is_padding},
    regs::{RBP, RIP, RSP},
    stack_effect::DWARF,
};
use crate::follow::{Flow, Instruction, Op, Source};

const WORD: i64 = 8;
/// The number of `rsp` in machine code.
const SP: u8 = 4;

/// The first instruction of `bytes`, which lie at `at`.
pub fn instruction(bytes: &[u8], at: Addr) -> Option<Instruction> {
    let code = decode(bytes)?;
    let plain = Instruction::nothing(u8::try_from(code.len).ok()?);
    let next = at.checked_add(code.len as u64)?;
    let found = control(&code, plain, next).unwrap_or_else(|| plain.with(&steps(&code)));
    Some(Instruction { is_padding: is_padding(&code), ..found })
}

fn dwarf(number: u8) -> u16 {
    DWARF.get(usize::from(number)).copied().unwrap_or_default()
}

/// What moves the stack pointer by a constant.
const fn moved(by: i64) -> Op {
    Op::Set(RSP.0, Source::Register(RSP.0, by))
}

/// Instructions that change where control goes.
fn control(code: &Decoded, plain: Instruction, next: Addr) -> Option<Instruction> {
    let target = next.wrapping_offset(code.immediate);
    Some(match (code.map, code.opcode) {
        (0, 0x70..=0x7f | 0xe0..=0xe3) | (1, 0x80..=0x8f) => plain.going(Flow::Branch(target)),
        (0, 0xe9 | 0xeb) => plain.going(Flow::Jump(target)),
        // Code asks for its own address so.
        (0, 0xe8) if target == next => plain.with(&[moved(-WORD)]),
        (0, 0xe8) => plain.going(Flow::Call(Some(target))),
        (0, 0xc2 | 0xc3) => {
            let popped = (code.immediate & 0xffff).wrapping_add(WORD);
            let to = Op::Set(RIP.0, Source::Load(RSP.0, 0));
            plain.with(&[to, moved(popped)]).going(Flow::Return)
        }
        (0, 0xcc | 0xf4) | (1, 0x0b | 0xb9 | 0xff) => plain.going(Flow::Stop),
        (0, 0xc8 | 0xca | 0xcb | 0xcd | 0xcf) => plain.going(Flow::Unknown),
        (0, 0xff) => match code.reg_field() {
            2 | 3 => plain.going(Flow::Call(None)),
            4 if code.rm_is_register() => {
                plain.going(Flow::JumpRegister(dwarf(code.rm_register())))
            }
            // Through a slot that the linker fills: into another function.
            4 if code.is_relative_to_pc() => plain.going(Flow::TailCall),
            4 | 5 => plain.going(Flow::Unknown),
            6 => plain.with(&push(None)),
            _ => return None,
        },
        _ => return None,
    })
}

/// What an instruction does to registers and the stack.
fn steps(code: &Decoded) -> [Op; 3] {
    let one = |op| [op, Op::None, Op::None];
    match (code.map, code.opcode) {
        (0, 0x50..=0x57) => pushed(code, Some(dwarf(code.short_register()))),
        (0, 0x68 | 0x6a | 0x9c) | (1, 0xa0 | 0xa8) => pushed(code, None),
        (0, 0x58..=0x5f) => popped(dwarf(code.short_register())),
        (0, 0x8f) if code.rm_is_register() => popped(dwarf(code.rm_register())),
        (0, 0x8f | 0x9d) | (1, 0xa1 | 0xa9) => one(moved(WORD)),
        (0, 0xc9) => [
            Op::Set(RSP.0, Source::Register(RBP.0, 0)),
            Op::Set(RBP.0, Source::Load(RSP.0, 0)),
            moved(WORD),
        ],
        (0, 0x81 | 0x83) => one(arithmetic(code)),
        (0, 0x89) => one(stored(code)),
        (0, 0x8b) => one(loaded(code)),
        (0, 0x8d) => one(address(code)),
        _ => lost(code),
    }
}

fn push(register: Option<u16>) -> [Op; 2] {
    [moved(-WORD), Op::Store(RSP.0, 0, register)]
}

fn pushed(code: &Decoded, register: Option<u16>) -> [Op; 3] {
    if code.operand_size_16 {
        return [unknown(SP), Op::None, Op::None];
    }
    let [first, second] = push(register);
    [first, second, Op::None]
}

fn popped(register: u16) -> [Op; 3] {
    let load = Op::Set(register, Source::Load(RSP.0, 0));
    if register == RSP.0 { [load, Op::None, Op::None] } else { [load, moved(WORD), Op::None] }
}

fn unknown(number: u8) -> Op {
    Op::Set(dwarf(number), Source::Unknown)
}

/// `add`, `sub`, `and`, `cmp` … with an immediate.
fn arithmetic(code: &Decoded) -> Op {
    if !code.rm_is_register() || code.reg_field() == 7 {
        return Op::None;
    }
    let number = code.rm_register();
    let register = dwarf(number);
    match (code.is_wide(), code.reg_field()) {
        (true, 0) => Op::Set(register, Source::Register(register, code.immediate)),
        (true, 5) => Op::Set(register, Source::Register(register, code.immediate.wrapping_neg())),
        (true, 4) if number == SP => Op::Align(register),
        _ => unknown(number),
    }
}

/// `mov` from a register.
fn stored(code: &Decoded) -> Op {
    let (to, from) = (code.rm_register(), code.reg_register());
    if code.rm_is_register() {
        return if code.is_wide() {
            Op::Set(dwarf(to), Source::Register(dwarf(from), 0))
        } else {
            unknown(to)
        };
    }
    let from = code.is_wide().then(|| dwarf(from));
    code.base_register().map_or(Op::None, |base| Op::Store(dwarf(base), code.displacement, from))
}

/// `mov` to a register.
fn loaded(code: &Decoded) -> Op {
    let to = code.reg_register();
    if !code.is_wide() {
        return unknown(to);
    }
    if code.rm_is_register() {
        return Op::Set(dwarf(to), Source::Register(dwarf(code.rm_register()), 0));
    }
    let load = |base| Op::Set(dwarf(to), Source::Load(dwarf(base), code.displacement));
    code.base_register().map_or_else(|| unknown(to), load)
}

/// `lea`.
fn address(code: &Decoded) -> Op {
    let to = code.reg_register();
    let is = |base| Op::Set(dwarf(to), Source::Register(dwarf(base), code.displacement));
    code.base_register().filter(|_| code.is_wide()).map_or_else(|| unknown(to), is)
}

/// The registers that all other instructions change (Intel SDM volume 2, appendix A): those that nothing is known
/// of are not named where no callee preserves them.
fn lost(code: &Decoded) -> [Op; 3] {
    let reg = || Some(code.reg_register());
    let rm = || code.rm_is_register().then(|| code.rm_register());
    let short = || Some(code.short_register());
    let (first, second) = match (code.map, code.opcode) {
        (0, 0x38..=0x3d | 0x84 | 0x85) => (None, None),
        (0, 0x00..=0x3d) => match code.opcode & 7 {
            0 | 1 => (rm(), None),
            2 | 3 => (reg(), None),
            _ => (None, None),
        },
        (0, 0x80) if code.reg_field() == 7 => (None, None),
        (0, 0x80 | 0x88 | 0x8c | 0xc0 | 0xc1 | 0xc6 | 0xc7 | 0xd0..=0xd3 | 0xfe | 0xff) => {
            (rm(), None)
        }
        (0, 0x63 | 0x69 | 0x6b | 0x8a) => (reg(), None),
        (0, 0x86 | 0x87) | (1, 0xc0 | 0xc1) => (reg(), rm()),
        (0, 0xf6 | 0xf7) if matches!(code.reg_field(), 2 | 3) => (rm(), None),
        (0, 0x91..=0x97 | 0xb0..=0xbf) | (1, 0xc8..=0xcf) => (short(), None),
        // cpuid
        (1, 0xa2) => (Some(3), None),
        (1 | 5, 0x2c | 0x2d | 0x50 | 0xc5 | 0xd7) | (5, 0x93) => (reg(), None),
        (1, 0x40..=0x4f | 0x02 | 0x03 | 0xaf | 0xb6..=0xb8 | 0xbc..=0xbf) => (reg(), None),
        (1, 0x90..=0x9f | 0xa4 | 0xa5 | 0xab..=0xad | 0xb0 | 0xb1 | 0xb3 | 0xbb | 0xc7) => {
            (rm(), None)
        }
        (1, 0xba) if code.reg_field() != 4 => (rm(), None),
        (1 | 5, 0x7e) | (3 | 7, 0x14..=0x17) => (rm(), None),
        (2, 0xf0 | 0xf1 | 0xf6) | (7, 0xf0) => (reg(), None),
        (6, 0xf2 | 0xf3 | 0xf5 | 0xf6 | 0xf7) => (reg(), Some(code.third_register)),
        _ => (None, None),
    };
    let op = |number: Option<u8>| number.map_or(Op::None, unknown);
    [op(first), op(second), Op::None]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Instruction {
        instruction(bytes, Addr::new(0x1000)).unwrap()
    }

    fn first(bytes: &[u8]) -> Op {
        of(bytes).ops[0]
    }

    #[test]
    fn what_moves_the_stack_pointer_is_told() {
        assert_eq!(first(&[0x48, 0x83, 0xec, 0x18]), moved(-0x18), "sub $0x18,%rsp");
        assert_eq!(first(&[0x48, 0x83, 0xe4, 0xe0]), Op::Align(7), "and $-32,%rsp");
        let restored = Op::Set(7, Source::Load(7, 0x40));
        assert_eq!(first(&[0x48, 0x8b, 0x64, 0x24, 0x40]), restored, "mov 0x40(%rsp),%rsp");
        let left = Op::Set(7, Source::Register(6, -0x28));
        assert_eq!(first(&[0x48, 0x8d, 0x65, 0xd8]), left, "lea -0x28(%rbp),%rsp");
        assert_eq!(of(&[0x55]).ops[..2], push(Some(6)), "push %rbp");
        assert_eq!(of(&[0x66, 0x55]).ops[0], unknown(SP), "push %bp");
    }

    #[test]
    fn what_changes_a_register_is_told() {
        for (bytes, number) in [
            (&[0x48, 0x01, 0xc5][..], 5),         // add %rax,%rbp
            (&[0x41, 0xbc, 1, 0, 0, 0], 12),      // mov $1,%r12d
            (&[0x48, 0x0f, 0xaf, 0xd8], 3),       // imul %rax,%rbx
            (&[0xc4, 0xe2, 0xf3, 0xf7, 0xdb], 3), // shlx %rcx,%rbx,%rbx
            (&[0x66, 0x48, 0x0f, 0x7e, 0xc3], 3), // movq %xmm0,%rbx
            (&[0x45, 0x31, 0xff], 15),            // xor %r15d,%r15d
        ] {
            assert_eq!(first(bytes), unknown(number), "{bytes:x?}");
        }
        for bytes in [&[0x48, 0x39, 0xc5][..], &[0x48, 0x85, 0xed], &[0x48, 0x83, 0xfd, 1]] {
            assert_eq!(first(bytes), Op::None, "{bytes:x?} compares");
        }
    }

    #[test]
    fn where_control_goes_is_told() {
        let at = Addr::new;
        assert_eq!(of(&[0x75, 0xfe]).flow, Flow::Branch(at(0x1000)));
        assert_eq!(of(&[0xe9, 0, 1, 0, 0]).flow, Flow::Jump(at(0x1105)));
        assert_eq!(of(&[0xe8, 0, 1, 0, 0]).flow, Flow::Call(Some(at(0x1105))));
        assert_eq!(of(&[0xe8, 0, 0, 0, 0]).ops[0], moved(-8), "call of the next instruction");
        assert_eq!(of(&[0xff, 0x25, 0, 0, 0, 0]).flow, Flow::TailCall, "jmp *0(%rip)");
        assert_eq!(of(&[0xff, 0xe0]).flow, Flow::JumpRegister(0));
        assert_eq!(of(&[0xff, 0x24, 0xc2]).flow, Flow::Unknown, "jmp *(%rdx,%rax,8)");
        assert_eq!(of(&[0xc2, 8, 0]).ops[1], moved(16), "ret $8");
    }

    #[test]
    fn memory_with_an_index_or_in_a_segment_has_no_one_base() {
        assert_eq!(first(&[0x48, 0x8b, 0x5c, 0xc4, 8]), unknown(3), "mov 8(%rsp,%rax,8),%rbx");
        assert_eq!(first(&[0x64, 0x48, 0x8b, 0x1c, 0x24]), unknown(3), "mov %fs:(%rsp),%rbx");
        let based = Op::Set(3, Source::Load(12, 8));
        assert_eq!(first(&[0x49, 0x8b, 0x5c, 0x24, 8]), based, "mov 8(%r12),%rbx");
    }
}
