//! What functions are called: `lj_debug_funcname` and `lj_debug_slotname` of `lj_debug.c`, with the instructions of
//! `lj_bc.h` of 2.1.

use std::ops::RangeInclusive;

use super::{memory::Memory, proto::Proto};

/// Instructions whose first operand is a register that is set (`dst`), or the first of those that are (`base`).
const SETS: [RangeInclusive<u8>; 5] = [12..=13, 18..=43, 45..=45, 51..=54, 56..=59];
const SETS_FROM: [RangeInclusive<u8>; 4] = [44..=44, 63..=63, 65..=73, 77..=84];
const MOVE: u8 = 18;
const NIL: u8 = 44;
const UPVALUE: u8 = 45;
const GLOBAL: u8 = 54;
const MEMBER: u8 = 57;
/// Calls, of which one is that of an iterator.
const CALLS: RangeInclusive<u8> = 65..=70;
const ITERATOR: u8 = 69;
/// Instructions that may call a metamethod, and its name.
const METAMETHODS: [(RangeInclusive<u8>, &str); 14] = [
    (0..=1, "__lt"),
    (2..=3, "__le"),
    (4..=11, "__eq"),
    (20..=20, "__unm"),
    (21..=21, "__len"),
    (37..=37, "__pow"),
    (38..=38, "__concat"),
    (51..=53, "__gc"),
    (54..=54, "__index"),
    (55..=55, "__newindex"),
    (56..=59, "__index"),
    (60..=64, "__newindex"),
    // Arithmetic follows.
    (22..=26, ""),
    (27..=36, ""),
];
/// Of arithmetic, in the order in which it stands for each kind of operands.
const ARITHMETIC: [&str; 5] = ["__add", "__sub", "__mul", "__div", "__mod"];
const FIRST_ARITHMETIC: u8 = 22;
/// Instructions that are looked at for one name, at most.
const MAX_LOOKED_AT: u32 = 1 << 16;

/// The name by which code that runs an instruction calls a function.
pub fn called(memory: &Memory<'_>, caller: &Proto, index: u64) -> Option<String> {
    let instruction = caller.instruction(memory, index)?;
    let code = operation(instruction);
    if CALLS.contains(&code) {
        let register = match code {
            ITERATOR => first(instruction).checked_sub(3)?,
            _ => first(instruction),
        };
        return held(memory, caller, index, register);
    }
    metamethod(code).map(str::to_owned)
}

fn metamethod(code: u8) -> Option<&'static str> {
    let (_, name) = METAMETHODS.iter().find(|(codes, _)| codes.contains(&code))?;
    match *name {
        "" => {
            let place = code.checked_sub(FIRST_ARITHMETIC)?.checked_rem(5)?;
            ARITHMETIC.get(usize::from(place)).copied()
        }
        name => Some(name),
    }
}

/// The name of what a register holds at an instruction.
fn held(memory: &Memory<'_>, proto: &Proto, index: u64, register: u64) -> Option<String> {
    let (mut index, mut register) = (index, register);
    let mut left = MAX_LOOKED_AT;
    'moved: loop {
        let slots = proto.slots(memory, index);
        if let Some((name, _)) = slots.into_iter().find(|(_, slot)| *slot == register) {
            return Some(name);
        }
        while index > 1 {
            left = left.checked_sub(1)?;
            index = index.checked_sub(1)?;
            let instruction = proto.instruction(memory, index)?;
            let (code, set) = (operation(instruction), first(instruction));
            let is_among =
                |all: &[RangeInclusive<u8>]| all.iter().any(|codes| codes.contains(&code));
            if is_among(&SETS_FROM) && register >= set {
                (code == NIL && register > behind(instruction)).then_some(())?;
                continue;
            }
            if !is_among(&SETS) || set != register {
                continue;
            }
            match code {
                MOVE => {
                    register = behind(instruction);
                    continue 'moved;
                }
                GLOBAL => return proto.constant(memory, behind(instruction)),
                MEMBER => return proto.constant(memory, third(instruction)),
                UPVALUE => return proto.upvalue(memory, behind(instruction)),
                _ => return None,
            }
        }
        return None;
    }
}

/// The number of an instruction, and its operands A, C and D.
fn operation(instruction: u32) -> u8 {
    u8::try_from(instruction & 0xff).unwrap_or_default()
}

const fn first(instruction: u32) -> u64 {
    (instruction as u64 >> 8) & 0xff
}

const fn third(instruction: u32) -> u64 {
    (instruction as u64 >> 16) & 0xff
}

const fn behind(instruction: u32) -> u64 {
    instruction as u64 >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metamethods_are_those_of_their_instructions() {
        let told =
            [(0, "__lt"), (10, "__eq"), (22, "__add"), (27, "__add"), (36, "__mod"), (37, "__pow")];
        for (code, name) in told {
            assert_eq!(metamethod(code), Some(name), "{code}");
        }
        assert_eq!((metamethod(18), metamethod(66)), (None, None));
    }
}
