//! What one instruction does to the stack pointer, the saved registers, and control flow.
//!
//! Arm Architecture Reference Manual (DDI 0487), C4.1. Only what compilers and assembly writers
//! put into prologues and epilogues is told apart.

use kcore_mem::{Addr, AddressSpace};

/// The effect of one instruction. Register numbers are those of the machine code, 31 is sp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// None that matters.
    None,
    /// sp moved by a constant.
    Move(i64),
    /// x29 became sp plus a constant.
    SetFrame(i64),
    /// sp became x29 plus a constant.
    FromFrame(i64),
    /// sp became that of another stack, which was given as an argument and left by the same code.
    Switch,
    /// sp became something that the code alone does not tell.
    Unknown,
    /// x29 became something else than a place relative to sp.
    LoseFrame,
    /// Registers were stored to or loaded from the stack.
    Transfer(Transfer),
    /// A branch that may be taken, by its displacement from this instruction.
    Branch(i64),
    /// A jump that is always taken, by its displacement from this instruction if that is known.
    Jump(Option<i64>),
    /// Control does not come back: a return, a trap.
    Stop,
}

/// A store or load of one or two registers of 8 bytes relative to sp or x29.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Whether it loads.
    pub load: bool,
    /// The registers, lowest address first.
    pub registers: [Option<u16>; 2],
    /// Whether the address is relative to x29 and not to sp.
    pub from_frame: bool,
    /// Offset of the first register from the base.
    pub offset: i64,
    /// What is added to the base before and after the access.
    pub base_change: [i64; 2],
}

const FP: u32 = 29;
const SP: u32 = 31;

/// The effect of an instruction.
pub fn effect_of(word: u32) -> Effect {
    match word {
        // add, sub (immediate), 64-bit.
        _ if word & 0xbf80_0000 == 0x9100_0000 => add_immediate(word),
        // add (extended register) and and (immediate) that write sp.
        _ if word & 0xbfe0_001f == 0x8b20_001f || word & 0xff80_001f == 0x9200_001f => {
            Effect::Unknown
        }
        // stp, ldp of registers of any kind: post-indexed, offset, pre-indexed.
        _ if word & 0x3a00_0000 == 0x2800_0000 => pair(word),
        // str, ldr of a register of any kind: unscaled and indexed; then, where only those of 64
        // bits matter, with unsigned offset.
        _ if word & 0x3b20_0000 == 0x3800_0000 => single(word),
        _ if word & 0xff80_0000 == 0xf900_0000 => single_unsigned(word),
        // b
        _ if word & 0xfc00_0000 == 0x1400_0000 => Effect::Jump(Some(displacement(word, 0, 26))),
        // b.cond and bc.cond, cbz and cbnz, tbz and tbnz.
        _ if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 => {
            Effect::Branch(displacement(word, 5, 19))
        }
        _ if word & 0x7e00_0000 == 0x3600_0000 => Effect::Branch(displacement(word, 5, 14)),
        // br, braa …; ret, retaa, retab; brk; udf.
        _ if word & 0xfeff_f000 == 0xd61f_0000 => Effect::Jump(None),
        _ if word & 0xfeff_f000 == 0xd65f_0000 => Effect::Stop,
        _ if word & 0xffe0_001f == 0xd420_0000 || word & 0xffff_0000 == 0 => Effect::Stop,
        // mov (register) to x29.
        _ if word & 0xffe0_ffff == 0xaa00_03fd => Effect::LoseFrame,
        _ => Effect::None,
    }
}

/// Whether the instruction before `at` is a call, so that `at` can be a return address: `bl`,
/// `blr`, and `blr` with pointer authentication.
pub fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    let before = space.read_uint(at.wrapping_offset(-4), 4).ok();
    before.and_then(|word| u32::try_from(word).ok()).is_some_and(is_call)
}

/// The target of a `bl` that ends at `at`.
pub fn called_before(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let call = at.wrapping_offset(-4);
    let word = u32::try_from(space.read_uint(call, 4).ok()?).ok()?;
    (word & 0xfc00_0000 == 0x9400_0000).then(|| call.wrapping_offset(displacement(word, 0, 26)))
}

/// Whether an instruction is a call.
pub const fn is_call(word: u32) -> bool {
    word & 0xfc00_0000 == 0x9400_0000 || word & 0xfeff_f000 == 0xd63f_0000
}

/// `bits` bits from `low` on, as a signed number.
pub fn signed(word: u32, low: u32, bits: u32) -> i64 {
    let left = 32_u32.saturating_sub(low).saturating_sub(bits);
    let top = word.wrapping_shl(left).cast_signed();
    i64::from(top.wrapping_shr(32_u32.saturating_sub(bits)))
}

pub fn displacement(word: u32, low: u32, bits: u32) -> i64 {
    signed(word, low, bits).wrapping_mul(4)
}

const fn field(word: u32, low: u32) -> u32 {
    word.wrapping_shr(low) & 31
}

fn register(number: u32) -> Option<u16> {
    (number != SP).then_some(number as u16)
}

fn add_immediate(word: u32) -> Effect {
    let shift = if word & (1 << 22) != 0 { 12 } else { 0 };
    let amount = i64::from((word >> 10) & 0xfff) << shift;
    let amount = if word & (1 << 30) != 0 { amount.wrapping_neg() } else { amount };
    match (field(word, 0), field(word, 5)) {
        (SP, SP) => Effect::Move(amount),
        (FP, SP) => Effect::SetFrame(amount),
        (SP, FP) => Effect::FromFrame(amount),
        (SP, 0 | 1) if amount == 0 => Effect::Switch,
        (SP, _) => Effect::Unknown,
        (FP, _) => Effect::LoseFrame,
        _ => Effect::None,
    }
}

fn pair(word: u32) -> Effect {
    let load = word & (1 << 22) != 0;
    let is_vector = word & (1 << 26) != 0;
    let (registers, size) = match (is_vector, word >> 30) {
        (false, 2) => ([register(field(word, 0)), register(field(word, 10))], 8),
        (true, 2) => ([None, None], 16),
        (true, 1) => ([None, None], 8),
        _ => ([None, None], 4),
    };
    let offset = signed(word, 15, 7).wrapping_mul(size);
    transfer(word, load, registers, (word >> 23) & 3, offset)
}

fn single(word: u32) -> Effect {
    let offset = signed(word, 12, 9);
    let load = word & (1 << 22) != 0;
    // 64 bits of a general register, stored or loaded as they are.
    let is_whole = word & 0xff80_0000 == 0xf800_0000;
    let own = is_whole.then(|| register(field(word, 0))).flatten();
    // 0 unscaled, 1 post-indexed, 3 pre-indexed; 2 is an unprivileged access.
    let indexing = match (word >> 10) & 3 {
        0 => 2,
        other => other,
    };
    transfer(word, load, [own, None], indexing, offset)
}

fn single_unsigned(word: u32) -> Effect {
    let offset = i64::from((word >> 10) & 0xfff).wrapping_mul(8);
    let load = word & (1 << 22) != 0;
    transfer(word, load, [register(field(word, 0)), None], 2, offset)
}

/// `indexing`: 1 post-indexed, 2 plain offset, 3 pre-indexed, 0 an offset without caching.
fn transfer(
    word: u32,
    load: bool,
    registers: [Option<u16>; 2],
    indexing: u32,
    offset: i64,
) -> Effect {
    let base = field(word, 5);
    if base != SP && base != FP {
        let loses = load && registers.contains(&Some(FP as u16));
        return if loses { Effect::LoseFrame } else { Effect::None };
    }
    let (offset, base_change) = match indexing {
        1 => (0, [0, offset]),
        3 => (0, [offset, 0]),
        _ => (offset, [0, 0]),
    };
    Effect::Transfer(Transfer { load, registers, from_frame: base == FP, offset, base_change })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words as GNU as 2.40 encodes them.
    #[test]
    fn each_way_to_move_the_stack_pointer_is_known() {
        assert_eq!(effect_of(0xd100_83ff), Effect::Move(-32), "sub sp, sp, #32");
        assert_eq!(effect_of(0x9100_43ff), Effect::Move(16), "add sp, sp, #16");
        assert_eq!(effect_of(0xd140_07ff), Effect::Move(-4096), "sub sp, sp, #1, lsl #12");
        assert_eq!(effect_of(0x9100_03fd), Effect::SetFrame(0), "mov x29, sp");
        assert_eq!(effect_of(0x9100_03bf), Effect::FromFrame(0), "mov sp, x29");
        assert_eq!(effect_of(0x9100_003f), Effect::Switch, "mov sp, x1");
        assert_eq!(effect_of(0x9100_005f), Effect::Unknown, "mov sp, x2");
        assert_eq!(effect_of(0xcb20_63ff), Effect::Unknown, "sub sp, sp, x0");
        assert_eq!(effect_of(0x927c_ec1f), Effect::Unknown, "and sp, x0, #-16");
    }

    #[test]
    fn saved_registers_have_their_places() {
        let pushed = Transfer {
            load: false,
            registers: [Some(29), Some(30)],
            from_frame: false,
            offset: 0,
            base_change: [-32, 0],
        };
        assert_eq!(effect_of(0xa9be_7bfd), Effect::Transfer(pushed), "stp x29, x30, [sp, #-32]!");
        let popped = Transfer { load: true, base_change: [0, 32], ..pushed };
        assert_eq!(effect_of(0xa8c2_7bfd), Effect::Transfer(popped), "ldp x29, x30, [sp], #32");
        let stored =
            Transfer { registers: [Some(19), None], offset: 16, base_change: [0, 0], ..pushed };
        assert_eq!(effect_of(0xf900_0bf3), Effect::Transfer(stored), "str x19, [sp, #16]");
        let one = Transfer { registers: [Some(30), None], base_change: [-16, 0], ..pushed };
        assert_eq!(effect_of(0xf81f_0ffe), Effect::Transfer(one), "str x30, [sp, #-16]!");
    }

    #[test]
    fn registers_that_are_not_preserved_whole_move_the_stack_pointer_all_the_same() {
        let moved = |word| match effect_of(word) {
            Effect::Transfer(transfer) => (transfer.registers, transfer.base_change),
            other => panic!("{other:?}"),
        };
        assert_eq!(moved(0x6dbc_27e8), ([None, None], [-64, 0]), "stp d8, d9, [sp, #-64]!");
        assert_eq!(moved(0x6cc4_27e8), ([None, None], [0, 64]), "ldp d8, d9, [sp], #64");
        assert_eq!(moved(0xadbf_07e0), ([None, None], [-32, 0]), "stp q0, q1, [sp, #-32]!");
        assert_eq!(moved(0x29bf_07e0), ([None, None], [-8, 0]), "stp w0, w1, [sp, #-8]!");
        assert_eq!(moved(0xfc1f_0fe8), ([None, None], [-16, 0]), "str d8, [sp, #-16]!");
        assert_eq!(moved(0x3c9f_0fe0), ([None, None], [-16, 0]), "str q0, [sp, #-16]!");
        assert_eq!(moved(0xb81f_0fe0), ([None, None], [-16, 0]), "str w0, [sp, #-16]!");
    }

    #[test]
    fn control_flow_is_told_apart() {
        assert_eq!(effect_of(0x1400_0002), Effect::Jump(Some(8)), "b +8");
        assert_eq!(effect_of(0x17ff_ffff), Effect::Jump(Some(-4)), "b -4");
        assert_eq!(effect_of(0x5400_0040), Effect::Branch(8), "b.eq +8");
        assert_eq!(effect_of(0xb400_0060), Effect::Branch(12), "cbz x0, +12");
        assert_eq!(effect_of(0x3700_0040), Effect::Branch(8), "tbnz w0, #0, +8");
        assert_eq!(effect_of(0xd65f_03c0), Effect::Stop, "ret");
        assert_eq!(effect_of(0xd65f_0bff), Effect::Stop, "retaa");
        assert_eq!(effect_of(0xd61f_0200), Effect::Jump(None), "br x16");
        assert_eq!(effect_of(0xd420_0000), Effect::Stop, "brk #0");
        assert_eq!(effect_of(0xd503_201f), Effect::None, "nop");
        assert_eq!(effect_of(0x9400_0001), Effect::None, "bl +4");
    }

    #[test]
    fn calls_are_bl_and_the_forms_of_blr() {
        for call in [0x9400_0001, 0x97ff_fff0, 0xd63f_0000, 0xd63f_083f, 0xd73f_0801] {
            assert!(is_call(call), "{call:#x}");
        }
        for other in [0x1400_0001, 0xd61f_0000, 0xd65f_03c0, 0xd503_201f] {
            assert!(!is_call(other), "{other:#x}");
        }
    }
}
