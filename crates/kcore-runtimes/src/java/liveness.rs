//! Whether a method goes on to read a local: compiled code keeps no others, and when the virtual machine gives up compiled
//! code, the frame of the interpreter that takes its place has zeros for them (`vframeArrayElement::unpack_on_stack`,
//! `src/hotspot/share/runtime/vframeArray.cpp`, JDK 11 to 25).
//!
//! Bytecodes are those of the Java Virtual Machine Specification, with what the virtual machine writes in their place
//! (`src/hotspot/share/interpreter/bytecodes.hpp`, JDK 11 to 25): that has the length of what it stands for.

use std::{collections::BTreeSet, ops::Range};

/// Bytecodes that mean something here.
const IINC: u8 = 132;
const TABLESWITCH: u8 = 170;
const LOOKUPSWITCH: u8 = 171;
const WIDE: u8 = 196;

/// The bytecodes of a method.
pub struct Bytecodes {
    /// They themselves.
    pub code: Vec<u8>,
    /// Ranges of them with what is run when an exception is thrown there.
    pub handlers: Vec<(Range<u32>, u32)>,
}

/// What a bytecode does with locals, and what may follow.
#[derive(Debug, Default, PartialEq, Eq)]
struct Instruction {
    reads: Option<u16>,
    /// The first local that it writes, and how many these are.
    writes: Option<(u16, u16)>,
    next: Vec<u32>,
}

impl Bytecodes {
    /// Whether a way from an index on reads a local before it writes it; `None` where that cannot be worked out.
    pub fn reads(&self, from: u32, slot: u16) -> Option<bool> {
        let mut todo = vec![from];
        let mut seen = BTreeSet::new();
        while let Some(at) = todo.pop() {
            if !seen.insert(at) {
                continue;
            }
            let instruction = self.instruction(at)?;
            if instruction.reads == Some(slot) {
                return Some(true);
            }
            let thrown = self.handlers.iter().filter(|(range, _)| range.contains(&at));
            todo.extend(thrown.map(|(_, handler)| *handler));
            let is_written = instruction
                .writes
                .is_some_and(|(first, count)| slot.checked_sub(first).is_some_and(|by| by < count));
            if !is_written {
                todo.extend(instruction.next);
            }
        }
        Some(false)
    }

    fn instruction(&self, at: u32) -> Option<Instruction> {
        let code = written_as(self.byte(at)?);
        let mut found = Instruction::default();
        let len = match code {
            21..=25 | 54..=58 => {
                found.touch(code, u16::from(self.byte(at.checked_add(1)?)?));
                2
            }
            26..=45 => {
                let by = code.checked_sub(26)?;
                found.touch(21_u8.checked_add(by / 4)?, u16::from(by % 4));
                1
            }
            59..=78 => {
                let by = code.checked_sub(59)?;
                found.touch(54_u8.checked_add(by / 4)?, u16::from(by % 4));
                1
            }
            IINC => {
                found.reads = Some(u16::from(self.byte(at.checked_add(1)?)?));
                3
            }
            WIDE => {
                let code = self.byte(at.checked_add(1)?)?;
                let slot = self.short(at.checked_add(2)?)?;
                match code {
                    IINC => found.reads = Some(slot),
                    21..=25 | 54..=58 => found.touch(code, slot),
                    _ => return None,
                }
                if code == IINC { 6 } else { 4 }
            }
            153..=166 | 198 | 199 => {
                found.next.push(self.near(at)?);
                3
            }
            // What these go to is not followed by what stands behind them.
            167 => return Some(Instruction { next: vec![self.near(at)?], ..found }),
            200 => return Some(Instruction { next: vec![self.far(at, 1)?], ..found }),
            TABLESWITCH | LOOKUPSWITCH => {
                return Some(Instruction { next: self.cases(at, code)?, ..found });
            }
            172..=177 | 191 => return Some(found),
            _ => length(code)?,
        };
        found.next.push(at.checked_add(len)?);
        Some(found)
    }

    /// Where a switch goes to.
    fn cases(&self, at: u32, code: u8) -> Option<Vec<u32>> {
        let table = at.checked_add(4)? & !3;
        let by = table.checked_sub(at)?;
        let second = self.int(table.checked_add(4)?)?;
        let mut next = vec![self.far(at, by)?];
        let (first, step, count) = if code == TABLESWITCH {
            let last = self.int(table.checked_add(8)?)?;
            (12_u32, 4_u32, i64::from(last).checked_sub(second.into())?.checked_add(1)?)
        } else {
            (12, 8, i64::from(second))
        };
        let count = u32::try_from(count).ok()?;
        for index in 0..count {
            let offset = by.checked_add(first)?.checked_add(index.checked_mul(step)?)?;
            next.push(self.far(at, offset)?);
        }
        Some(next)
    }

    fn byte(&self, at: u32) -> Option<u8> {
        self.code.get(usize::try_from(at).ok()?).copied()
    }

    fn bytes<const N: usize>(&self, at: u32) -> Option<[u8; N]> {
        self.code.get(usize::try_from(at).ok()?..)?.first_chunk().copied()
    }

    fn short(&self, at: u32) -> Option<u16> {
        self.bytes(at).map(u16::from_be_bytes)
    }

    fn int(&self, at: u32) -> Option<i32> {
        self.bytes(at).map(i32::from_be_bytes)
    }

    /// Where a jump of 16 bits goes to.
    fn near(&self, at: u32) -> Option<u32> {
        let by = self.bytes(at.checked_add(1)?).map(i16::from_be_bytes)?;
        at.checked_add_signed(by.into())
    }

    /// Where one of 32 bits goes to that lies so far behind the bytecode.
    fn far(&self, at: u32, offset: u32) -> Option<u32> {
        at.checked_add_signed(self.int(at.checked_add(offset)?)?)
    }
}

impl Instruction {
    /// Notes a local that one of `iload` to `aload`, or of `istore` to `astore`, reads or writes.
    const fn touch(&mut self, code: u8, slot: u16) {
        match code {
            21..=25 => self.reads = Some(slot),
            55 | 57 => self.writes = Some((slot, 2)),
            _ => self.writes = Some((slot, 1)),
        }
    }
}

/// The bytecode of the class file for which the virtual machine wrote one of its own.
const fn written_as(code: u8) -> u8 {
    match code {
        203..=210 | 234 => 180,
        211..=219 | 235 => 181,
        // The first of a pair that is run at once: the second stands behind it.
        220..=223 | 236 => 42,
        224..=226 | 237 => 21,
        227 | 233 => 182,
        228 | 229 => LOOKUPSWITCH,
        230 => 18,
        231 => 19,
        232 => 177,
        other => other,
    }
}

/// The bytes of a bytecode that touches no local and jumps nowhere; `None` of one that is not followed.
const fn length(code: u8) -> Option<u32> {
    Some(match code {
        0..=15 | 46..=53 | 79..=131 | 133..=152 | 190 | 194 | 195 => 1,
        16 | 18 | 188 => 2,
        17 | 19 | 20 | 178..=184 | 187 | 189 | 192 | 193 => 3,
        197 => 4,
        185 | 186 => 5,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &[u8], handlers: &[(Range<u32>, u32)]) -> Bytecodes {
        Bytecodes { code: code.to_vec(), handlers: handlers.to_vec() }
    }

    #[test]
    fn a_local_is_read_on_some_way_or_on_none() {
        // iload_0, ifeq 7, iload_1, ireturn, nop, iload_2, ireturn.
        let code = of(&[26, 153, 0, 6, 27, 172, 0, 28, 172], &[]);
        let read = [0, 1, 2, 3].map(|slot| code.reads(0, slot));
        assert_eq!(read, [Some(true), Some(true), Some(true), Some(false)]);
        let read = [0, 1, 2].map(|slot| code.reads(4, slot));
        assert_eq!(read, [Some(false), Some(true), Some(false)]);
    }

    #[test]
    fn a_local_that_is_written_first_is_not_read() {
        // lconst_0, lstore_1 (1 and 2), iload 2, iload 3, wide iinc 300, return.
        let code = of(&[9, 64, 21, 2, 21, 3, 196, 132, 1, 44, 0, 1, 177], &[]);
        let read = [1, 2, 3, 300].map(|slot| code.reads(0, slot));
        assert_eq!(read, [Some(false), Some(false), Some(true), Some(true)]);
    }

    #[test]
    fn loops_and_handlers_are_followed() {
        // nop, goto 0; what is thrown there is caught at 4: aload_3, areturn.
        let code = [0, 167, 255, 255, 45, 176];
        assert_eq!(of(&code, &[]).reads(0, 3), Some(false));
        assert_eq!(of(&code, &[(0..1, 4)]).reads(0, 3), Some(true));
        assert_eq!(of(&code, &[(4..5, 4)]).reads(0, 3), Some(false));
    }

    #[test]
    fn switches_lead_everywhere() {
        // At 1: tableswitch 1 to 2, by default to 24, to 26 and 27.
        let mut code = vec![0, TABLESWITCH, 0, 0];
        for number in [23_i32, 1, 2, 25, 26] {
            code.extend(number.to_be_bytes());
        }
        code.extend([26, 177, 27, 28, 177]);
        let read = [0, 1, 2, 3].map(|slot| of(&code, &[]).reads(0, slot));
        assert_eq!(read, [Some(true), Some(true), Some(true), Some(false)]);
        // As the virtual machine writes a lookupswitch: at 0, by default to 20, one pair to 21.
        let mut code = vec![229, 0, 0, 0];
        for number in [20_i32, 1, 7, 21] {
            code.extend(number.to_be_bytes());
        }
        code.extend([26, 27, 177]);
        assert_eq!(of(&code, &[]).reads(0, 0), Some(true));
        assert_eq!(of(&code, &[]).reads(0, 1), Some(true));
        assert_eq!(of(&code, &[]).reads(0, 2), Some(false));
    }

    #[test]
    fn bytecodes_of_the_virtual_machine_have_the_length_of_others() {
        // A quick getfield, a pair that begins with aload_0, a quick iload, return.
        let code = of(&[208, 1, 0, 221, 208, 1, 0, 224, 5, 232], &[]);
        let read = [0, 5, 1].map(|slot| code.reads(0, slot));
        assert_eq!(read, [Some(true), Some(true), Some(false)]);
    }

    #[test]
    fn damaged_bytecodes_say_nothing() {
        for code in 0..=255_u8 {
            for rest in [0, 1, 127, 255] {
                let code = [code, rest, rest, rest, rest, rest];
                for len in 0..code.len() {
                    let _ = of(&code[..len], &[(0..9, 3)]).reads(0, 9);
                }
            }
        }
        assert_eq!(of(&[], &[]).reads(0, 0), None);
        assert_eq!(of(&[202], &[]).reads(0, 0), None);
        assert_eq!(of(&[0], &[]).reads(0, 0), None);
    }
}
