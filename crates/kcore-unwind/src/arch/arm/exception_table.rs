//! The exception table of 32-bit Arm, `.ARM.exidx` and `.ARM.extab` (Exception Handling ABI for the Arm Architecture,
//! sections 6 and 10.3). Libraries have it where they have no call frame information.
//!
//! Each function has a few opcodes that tell what its body has on the stack; where the pc is in what the function does
//! before, they do not hold.

use kcore_mem::{Addr, AddrRange, AddressSpace};

use crate::Reading;

/// Bytes of an entry: where a function begins, and its opcodes or where they are.
const ENTRY: u64 = 8;
/// The second word of a function that tells nothing.
const CANNOT_UNWIND: u32 = 1;
/// Opcodes of one function, at most: four bytes for each of 255 words.
const MAX_OPCODES: usize = 1024;
const SP: u16 = 13;
const LINK: u16 = 14;
const PC: u16 = 15;

/// What the table says of the body of the function at `pc`, and where that function begins.
pub fn read(table: AddrRange, pc: Addr, space: &dyn AddressSpace) -> Option<(Reading, Addr)> {
    let entry = find(table, pc, space)?;
    let start = relative(entry, space)?;
    Some((run(&opcodes(entry.checked_add(4)?, space)?)?, start))
}

/// The last entry whose function begins at or before `pc`.
fn find(table: AddrRange, pc: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let at = |index: u64| table.start.checked_add(index.checked_mul(ENTRY)?);
    let (mut low, mut high) = (0, table.len().checked_div(ENTRY)?);
    while low < high {
        let middle = low.midpoint(high);
        if relative(at(middle)?, space)? <= pc {
            low = middle.checked_add(1)?;
        } else {
            high = middle;
        }
    }
    at(low.checked_sub(1)?)
}

/// Where a word of 31 bits leads that is relative to itself.
fn relative(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let word = word(at, space)?;
    let distance = i64::from((word << 1).cast_signed() >> 1);
    Some(Addr::new(at.get().checked_add_signed(distance)?))
}

fn word(at: Addr, space: &dyn AddressSpace) -> Option<u32> {
    u32::try_from(space.read_uint(at, 4).ok()?).ok()
}

/// The opcodes of a function, by the second word of its entry.
fn opcodes(at: Addr, space: &dyn AddressSpace) -> Option<Vec<u8>> {
    let second = word(at, space)?;
    if second == CANNOT_UNWIND {
        return None;
    }
    if second >> 31 != 0 {
        let [_, opcodes @ ..] = second.to_be_bytes();
        return (second >> 24 == 0x80).then(|| opcodes.to_vec());
    }
    let table = relative(at, space)?;
    let first = word(table, space)?;
    // The model of a language has its routine first, and then the same.
    if first >> 31 == 0 {
        let second = table.checked_add(4)?;
        let [more, opcodes @ ..] = word(second, space)?.to_be_bytes();
        return with_more(&opcodes, second, more, space);
    }
    let [kind, more, rest @ ..] = first.to_be_bytes();
    match kind & 15 {
        0 => with_more(&[more, rest[0], rest[1]], table, 0, space),
        1 | 2 => with_more(&rest, table, more, space),
        _ => None,
    }
}

/// Opcodes that go on in `more` words behind `at`, the most significant byte first.
fn with_more(first: &[u8], at: Addr, more: u8, space: &dyn AddressSpace) -> Option<Vec<u8>> {
    let mut all = first.to_vec();
    for index in 1..=u64::from(more) {
        let word = word(at.checked_add(index.checked_mul(4)?)?, space)?;
        all.extend(word.to_be_bytes());
    }
    (all.len() <= MAX_OPCODES).then_some(all)
}

/// The stack as opcodes unwind it: where they have come to, from the register that they started at.
struct Unwound {
    base: u16,
    at: i64,
    saved: Vec<(u16, i64)>,
}

/// What opcodes tell, the CFA being where they end; `None` where they refuse, or are damaged.
fn run(opcodes: &[u8]) -> Option<Reading> {
    let mut unwound = Unwound { base: SP, at: 0, saved: Vec::new() };
    let mut rest = opcodes.iter().copied();
    while let Some(opcode) = rest.next() {
        let mut next = || rest.next();
        match opcode {
            0x00..=0x3f => unwound.skip(i64::from(opcode & 0x3f).wrapping_mul(4).wrapping_add(4)),
            0x40..=0x7f => {
                unwound.skip(i64::from(opcode & 0x3f).wrapping_mul(-4).wrapping_sub(4));
            }
            0x80..=0x8f => {
                let mask = (u32::from(opcode & 15) << 8) | u32::from(next()?);
                (mask != 0).then_some(())?;
                unwound.pop(mask << 4);
            }
            0x9d | 0x9f => return None,
            0x90..=0x9f => unwound.start_at(u16::from(opcode & 15))?,
            0xa0..=0xa7 => unwound.pop(mask_from_4(opcode & 7)),
            0xa8..=0xaf => unwound.pop(mask_from_4(opcode & 7) | (1 << LINK)),
            0xb0 => break,
            0xb1 => unwound.pop(u32::from(next().filter(|mask| (1..16).contains(mask))?)),
            0xb2 => unwound.skip(uleb(&mut rest)?.checked_mul(4)?.checked_add(0x204)?),
            // Authenticated return addresses carry nothing on the stack here.
            0xb4 => {}
            0xb3 => unwound.skip(doubles(next()?).checked_add(4)?),
            0xb8..=0xbf => unwound.skip(doubles(opcode & 7).checked_add(4)?),
            0xc8 | 0xc9 => unwound.skip(doubles(next()?)),
            0xd0..=0xd7 => unwound.skip(doubles(opcode & 7)),
            _ => return None,
        }
    }
    Some(unwound.reading())
}

/// r4 up to the one that is `count` above.
fn mask_from_4(count: u8) -> u32 {
    (4..=u32::from(count & 7).saturating_add(4)).fold(0, |mask, number| mask | (1 << number))
}

/// Bytes of registers of eight, one more than the low four bits say.
fn doubles(count: u8) -> i64 {
    i64::from(count & 15).wrapping_add(1).wrapping_mul(8)
}

fn uleb(bytes: &mut impl Iterator<Item = u8>) -> Option<i64> {
    let mut value = 0_i64;
    for shift in (0..28).step_by(7) {
        let byte = bytes.next()?;
        value |= i64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

impl Unwound {
    fn skip(&mut self, by: i64) {
        self.at = self.at.wrapping_add(by);
    }

    fn pop(&mut self, mask: u32) {
        for register in (0_u16..16).filter(|register| (mask >> register) & 1 != 0) {
            self.saved.push((register, self.at));
            self.skip(4);
        }
    }

    /// Goes on from another register, which only the first opcodes may: what was popped would be lost.
    fn start_at(&mut self, register: u16) -> Option<()> {
        (self.saved.is_empty() && self.at == 0).then(|| self.base = register)
    }

    fn reading(mut self) -> Reading {
        let cfa = self.at;
        // A popped pc is the return address.
        for (register, at) in &mut self.saved {
            *at = at.wrapping_sub(cfa);
            if *register == PC {
                *register = LINK;
            }
        }
        let base = Some(cfa.wrapping_neg());
        match self.base {
            SP => Reading { sp: base, saved: self.saved, ..Reading::NOTHING },
            register => Reading {
                fp: base,
                fp_register: Some(register),
                saved: self.saved,
                ..Reading::NOTHING
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_tell_what_the_body_of_a_function_has_on_the_stack() {
        // vsp += 8; pop {r4, r5, lr}
        let found = run(&[0x01, 0xa9, 0xb0]).unwrap();
        assert_eq!(found.sp, Some(-20));
        assert_eq!(found.saved, [(4, -12), (5, -8), (14, -4)]);
        // vsp = r7; vsp += 4; pop {r7, lr}
        let found = run(&[0x97, 0x00, 0x84, 0x08]).unwrap();
        assert_eq!((found.sp, found.fp, found.fp_register), (None, Some(-12), Some(7)));
        assert_eq!(found.saved, [(7, -8), (14, -4)]);
    }

    #[test]
    fn each_form_of_opcodes_moves_the_stack_by_its_own_amount() {
        let moved = |opcodes: &[u8]| run(opcodes).map(|found| found.sp.unwrap());
        assert_eq!(moved(&[0x3f]), Some(-256));
        assert_eq!(moved(&[0x40]), Some(4));
        assert_eq!(moved(&[0xb2, 0x80, 0x01]), Some(-(0x204 + 128 * 4)));
        assert_eq!(moved(&[0xb1, 0x0f]), Some(-16));
        assert_eq!(moved(&[0xc9, 0x81]), Some(-16));
        assert_eq!(moved(&[0xd3]), Some(-32));
        assert_eq!(moved(&[0xb8]), Some(-12));
        for refused in [&[0x80, 0x00][..], &[0x9d], &[0xb1, 0x10], &[0xb2, 0x80], &[0xcf], &[0x80]]
        {
            assert_eq!(run(refused), None, "{refused:x?}");
        }
    }
}
