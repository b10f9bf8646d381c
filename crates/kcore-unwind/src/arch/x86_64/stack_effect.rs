//! What one instruction does to the stack pointer, the frame pointer, and control flow.

use super::decode::Decoded;

/// DWARF numbers of the registers by their number in machine code.
pub const DWARF: [u16; 16] = [0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15];

const RSP: u8 = 4;
const RBP: u8 = 5;
/// The registers of the first two arguments.
const RSI: u8 = 6;
const RDI: u8 = 7;
/// What follows the byte of operands where the stack pointer alone is the base.
const SIB_RSP_ALONE: u8 = 0x24;

/// The effect of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// None that matters.
    None,
    /// A register (by DWARF number) or a value was pushed.
    Push(Option<u16>),
    /// A register (by DWARF number) or memory was popped.
    Pop(Option<u16>),
    /// The stack pointer moved by a constant.
    Move(i64),
    /// A register (by DWARF number) was stored so far from the stack pointer.
    Store(u16, i64),
    /// A register (by DWARF number) was loaded from so far from the stack pointer.
    Load(u16, i64),
    /// The stack pointer became that of another stack, which was given as an argument: that stack was left by
    /// the same code, so that all lies on it as it lay on this one.
    Switch,
    /// The frame pointer became the stack pointer.
    SetFrame,
    /// The stack pointer became the frame pointer plus a constant.
    FromFrame(i64),
    /// `leave`.
    Leave,
    /// The stack pointer became something that the code alone does not tell.
    Unknown,
    /// The frame pointer became something else.
    LoseFrame,
    /// A branch that may be taken, by its displacement from the next instruction.
    Branch(i64),
    /// A jump that is always taken, by its displacement from the next instruction if that is
    /// known.
    Jump(Option<i64>),
    /// Control does not come back: a return, a trap.
    Stop,
}

/// The effect of `code`.
pub fn effect_of(code: &Decoded) -> Effect {
    match (code.map, code.opcode) {
        (0, 0x50..=0x57) => Effect::Push(Some(short_register(code))),
        (0, 0x58..=0x5f) => pop(short_register(code)),
        (0, 0x68 | 0x6a) | (1, 0xa0 | 0xa8) | (0, 0x9c) => Effect::Push(None),
        (0, 0x8f | 0x9d) | (1, 0xa1 | 0xa9) => Effect::Pop(None),
        (0, 0x81 | 0x83) => arithmetic(code),
        (0, 0x89) => moved(code, code.rm_register(), code.reg_register()),
        (0, 0x8b) => moved(code, code.reg_register(), code.rm_register()),
        (0, 0x8d) => load_address(code),
        (0, 0x31 | 0x33) if code.rm_is_register() && code.rm_register() == RBP => Effect::LoseFrame,
        (0, 0xc9) => Effect::Leave,
        (0, 0xc2 | 0xc3 | 0xca | 0xcb | 0xcf | 0xf4) | (1, 0x0b) => Effect::Stop,
        (0, 0x70..=0x7f | 0xe0..=0xe3) | (1, 0x80..=0x8f) => Effect::Branch(code.immediate),
        (0, 0xe9 | 0xeb) => Effect::Jump(Some(code.immediate)),
        (0, 0xff) => indirect(code),
        _ => Effect::None,
    }
}

/// The register in the low bits of the opcode.
fn short_register(code: &Decoded) -> u16 {
    let number = (code.opcode & 7) | ((code.rex & 1) << 3);
    DWARF.get(usize::from(number)).copied().unwrap_or_default()
}

fn pop(register: u16) -> Effect {
    if register == 7 { Effect::Unknown } else { Effect::Pop(Some(register)) }
}

/// `add`, `sub` and `and` with an immediate.
fn arithmetic(code: &Decoded) -> Effect {
    if !code.rm_is_register() || code.rm_register() != RSP {
        return Effect::None;
    }
    match code.reg_field() {
        0 => Effect::Move(code.immediate),
        5 => Effect::Move(code.immediate.wrapping_neg()),
        7 => Effect::None,
        _ => Effect::Unknown,
    }
}

/// `mov` between registers, or a load into one.
fn moved(code: &Decoded, to: u8, from: u8) -> Effect {
    if !code.is_wide() {
        return Effect::None;
    }
    let on_stack = !code.rm_is_register() && is_by_stack_pointer(code);
    let number = |register: u8| DWARF.get(usize::from(register)).copied().unwrap_or_default();
    if code.opcode == 0x89 && !code.rm_is_register() {
        let stored = Effect::Store(number(from), code.displacement);
        return if on_stack { stored } else { Effect::None };
    }
    let from = code.rm_is_register().then_some(from);
    match (to, from) {
        (RSP, Some(RDI | RSI)) => Effect::Switch,
        (RBP, Some(RSP)) => Effect::SetFrame,
        (RSP, Some(RBP)) => Effect::FromFrame(0),
        (RSP, _) => Effect::Unknown,
        (_, None) if on_stack => Effect::Load(number(to), code.displacement),
        (RBP, _) => Effect::LoseFrame,
        _ => Effect::None,
    }
}

fn is_by_stack_pointer(code: &Decoded) -> bool {
    code.has_sib && code.sib == SIB_RSP_ALONE && code.rex & 3 == 0
}

/// `lea`, whose base tells what becomes of the stack pointer.
fn load_address(code: &Decoded) -> Effect {
    match code.reg_register() {
        RSP if is_by_stack_pointer(code) => Effect::Move(code.displacement),
        RSP if !code.has_sib && code.rm_register() == RBP => Effect::FromFrame(code.displacement),
        RSP => Effect::Unknown,
        RBP => Effect::LoseFrame,
        _ => Effect::None,
    }
}

/// The group of `ff`: calls leave the stack as it was when they return.
fn indirect(code: &Decoded) -> Effect {
    match code.reg_field() {
        4 | 5 => Effect::Jump(None),
        6 => Effect::Push(None),
        _ => Effect::None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode::decode;
    use super::*;

    fn effect(bytes: &[u8]) -> Effect {
        effect_of(&decode(bytes).unwrap())
    }

    #[test]
    fn each_way_to_move_the_stack_pointer_is_known() {
        assert_eq!(effect(&[0x41, 0x54]), Effect::Push(Some(12)));
        assert_eq!(effect(&[0x53]), Effect::Push(Some(3)));
        assert_eq!(effect(&[0x5b]), Effect::Pop(Some(3)));
        assert_eq!(effect(&[0x48, 0x83, 0xec, 0x18]), Effect::Move(-0x18));
        assert_eq!(effect(&[0x48, 0x81, 0xc4, 0, 1, 0, 0]), Effect::Move(0x100));
        assert_eq!(effect(&[0x48, 0x89, 0xe5]), Effect::SetFrame);
        assert_eq!(effect(&[0x48, 0x8d, 0x64, 0x24, 0xf8]), Effect::Move(-8));
        assert_eq!(effect(&[0x48, 0x8d, 0x65, 0xf0]), Effect::FromFrame(-16));
        assert_eq!(effect(&[0x48, 0x83, 0xe4, 0xf0]), Effect::Unknown, "and $-16,%rsp");
        assert_eq!(effect(&[0x48, 0x31, 0xed]), Effect::LoseFrame, "xor %rbp,%rbp");
    }

    #[test]
    fn registers_are_stored_on_stacks_loaded_from_them_and_stacks_are_switched() {
        assert_eq!(effect(&[0x4c, 0x89, 0x64, 0x24, 0x08]), Effect::Store(12, 8));
        assert_eq!(effect(&[0x48, 0x8b, 0x6c, 0x24, 0x30]), Effect::Load(6, 0x30));
        assert_eq!(effect(&[0x48, 0x89, 0xf4]), Effect::Switch, "mov %rsi,%rsp");
        assert_eq!(effect(&[0x48, 0x89, 0xfc]), Effect::Switch, "mov %rdi,%rsp");
        assert_eq!(effect(&[0x48, 0x89, 0xdc]), Effect::Unknown, "mov %rbx,%rsp");
    }

    #[test]
    fn stores_and_loads_of_other_registers_do_nothing() {
        assert_eq!(effect(&[0x48, 0x89, 0x6b, 0x08]), Effect::None, "mov %rbp,8(%rbx)");
        assert_eq!(effect(&[0x48, 0x8b, 0x43, 0x08]), Effect::None, "mov 8(%rbx),%rax");
        assert_eq!(effect(&[0x48, 0x89, 0xe0]), Effect::None, "mov %rsp,%rax");
        assert_eq!(effect(&[0xe8, 0, 0, 0, 0]), Effect::None, "call");
    }
}
