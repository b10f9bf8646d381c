//! The few instructions of x86-64 with which a coroutine of gcc finds where to go on.

use super::dispatch::{BIT, TEST};

/// What an instruction works on beside its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// None.
    None,
    /// A register.
    Register(usize),
    /// Memory at `base + index * scale + offset`; a base of [`Code::PC`] is the instruction behind.
    Memory { base: Option<usize>, index: Option<usize>, scale: u64, offset: u64 },
}

/// An instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// What it does. Forms that do the same share a number: `0x0f80` to `0x0f8f` jump on a condition, `0x104` to what an
    /// operand holds. `0x200`, `0x300` and `0x400` compute: an operand with a number, with a register, and a register with
    /// an operand; their lowest byte says what.
    pub opcode: u16,
    /// Bytes of its operands.
    pub size: usize,
    /// Its register.
    pub register: usize,
    /// Its other operand.
    pub operand: Operand,
    /// Its number, with its sign extended.
    pub immediate: u64,
    /// Its bytes.
    pub len: u64,
}

/// Bits of a REX prefix.
const WIDE: u8 = 8;

/// Bytes that are read one after the other.
struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at = self.at.checked_add(1)?;
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn number(&mut self, size: usize) -> Option<u64> {
        let mut bytes = [0_u8; 8];
        for byte in bytes.get_mut(..size)? {
            *byte = self.next()?;
        }
        let value = u64::from_le_bytes(bytes);
        Some(match size {
            1 => value as u8 as i8 as i64 as u64,
            2 => value as u16 as i16 as i64 as u64,
            4 => value as u32 as i32 as i64 as u64,
            _ => value,
        })
    }
}

/// The prefixes of an instruction.
#[derive(Clone, Copy, Default)]
struct Prefixes {
    rex: u8,
    is_short: bool,
}

impl Prefixes {
    const fn size(self) -> usize {
        match (self.rex & WIDE != 0, self.is_short) {
            (true, _) => 8,
            (_, true) => 2,
            _ => 4,
        }
    }

    /// A register's number with the bit that a prefix adds.
    const fn extended(self, low: u8, bit: u8) -> usize {
        let high = if self.rex & bit != 0 { 8 } else { 0 };
        (low | high) as usize
    }
}

impl Code {
    /// The number of a base that is the instruction behind.
    pub const PC: usize = 16;

    /// The instruction at the beginning of some bytes; `None` of one that is not known here.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Bytes { bytes, at: 0 };
        let mut prefixes = Prefixes::default();
        loop {
            match bytes.peek()? {
                0x66 => prefixes.is_short = true,
                // notrack, cs of long nops, and the prefix of endbr64
                0x3e | 0x2e | 0xf3 => {}
                rex @ 0x40..=0x4f => {
                    prefixes.rex = rex;
                    bytes.next()?;
                    break;
                }
                _ => break,
            }
            bytes.next()?;
        }
        let opcode = bytes.next()?;
        let mut code = Self::of(opcode, prefixes, &mut bytes)?;
        code.len = u64::try_from(bytes.at).ok()?;
        Some(code)
    }

    const fn new(opcode: u16, size: usize) -> Self {
        Self { opcode, size, register: 0, operand: Operand::None, immediate: 0, len: 0 }
    }

    fn of(opcode: u8, prefixes: Prefixes, bytes: &mut Bytes<'_>) -> Option<Self> {
        let size = if opcode & 1 == 0 { 1 } else { prefixes.size() };
        let code = Self::new(opcode.into(), size);
        match opcode {
            0x0f => Self::of_two(bytes.next()?, prefixes, bytes),
            0x00..=0x3b if opcode & 4 == 0 => {
                let kind = if opcode & 2 == 0 { 0x300 } else { 0x400 };
                let opcode = kind | u16::from(opcode >> 3);
                Self { opcode, ..code }.modrm(prefixes, bytes, false)
            }
            0x04..=0x3d if opcode & 6 == 4 => {
                let opcode = 0x200 | u16::from(opcode >> 3);
                let immediate = bytes.number(size.min(4))?;
                Some(Self { opcode, immediate, operand: Operand::Register(0), ..code })
            }
            0x50..=0x57 => {
                let register = prefixes.extended(opcode & 7, 1);
                Some(Self { opcode: 0x50, register, size: 8, ..code })
            }
            0x63 => Self { size: prefixes.size(), ..code }.modrm(prefixes, bytes, false),
            0x70..=0x7f => {
                let opcode = 0x0f80 | u16::from(opcode & 0xf);
                Some(Self { opcode, immediate: bytes.number(1)?, ..code })
            }
            0x80 | 0x81 | 0x83 => Self::group(code, opcode == 0x81, prefixes, bytes),
            0x84 | 0x85 => Self { opcode: 0x300 | TEST, ..code }.modrm(prefixes, bytes, false),
            0x88 | 0x89 => Self { opcode: 0x89, ..code }.modrm(prefixes, bytes, false),
            0x8a | 0x8b => Self { opcode: 0x8b, ..code }.modrm(prefixes, bytes, false),
            0x8d => Self { size: prefixes.size(), ..code }.modrm(prefixes, bytes, false),
            0x90 => Some(code),
            0x98 => Some(Self { size: prefixes.size(), ..code }),
            0xa8 | 0xa9 => {
                let immediate = bytes.number(size.min(4))?;
                let operand = Operand::Register(0);
                Some(Self { opcode: 0x200 | TEST, immediate, operand, ..code })
            }
            0xb8..=0xbf => {
                let size = prefixes.size();
                let register = prefixes.extended(opcode & 7, 1);
                Some(Self { opcode: 0xb8, register, size, immediate: bytes.number(size)?, ..code })
            }
            0xc6 | 0xc7 => Self { opcode: 0xc7, ..code }.modrm_number(prefixes, bytes),
            0xe9 => Some(Self { immediate: bytes.number(4)?, ..code }),
            0xeb => Some(Self { opcode: 0xe9, immediate: bytes.number(1)?, ..code }),
            0xf6 | 0xf7 => Self { opcode: 0x200 | TEST, ..code }.modrm_number(prefixes, bytes),
            0xff => Self { opcode: 0x104, size: 8, ..code }
                .modrm(prefixes, bytes, true)
                .filter(|code| code.register == 4),
            _ => None,
        }
    }

    fn of_two(opcode: u8, prefixes: Prefixes, bytes: &mut Bytes<'_>) -> Option<Self> {
        let code = Self::new(0x0f00 | u16::from(opcode), prefixes.size());
        match opcode {
            0x0b => Some(code),
            0x1e | 0x1f => code.modrm(prefixes, bytes, true),
            0x80..=0x8f => Some(Self { immediate: bytes.number(4)?, ..code }),
            0xa3 => Self { opcode: 0x300 | BIT, ..code }.modrm(prefixes, bytes, false),
            0xb6 | 0xb7 => code.modrm(prefixes, bytes, false),
            0xba => {
                let code = Self { opcode: 0x200 | BIT, ..code }.modrm(prefixes, bytes, true)?;
                let immediate = bytes.number(1)?;
                (code.register == 4).then_some(Self { immediate, ..code })
            }
            _ => None,
        }
    }

    /// An operation with a number, which stands where other instructions have a register.
    fn group(code: Self, is_long: bool, prefixes: Prefixes, bytes: &mut Bytes<'_>) -> Option<Self> {
        let code = code.modrm(prefixes, bytes, true)?;
        let operation = u16::try_from(code.register).ok()?;
        let immediate = bytes.number(if is_long { code.size.min(4) } else { 1 })?;
        Some(Self { opcode: 0x200 | operation, immediate, ..code })
    }

    /// An operand and a number; what stands in the place of a register is 0.
    fn modrm_number(self, prefixes: Prefixes, bytes: &mut Bytes<'_>) -> Option<Self> {
        let code = self.modrm(prefixes, bytes, true)?;
        let immediate = bytes.number(code.size.min(4))?;
        (code.register == 0).then_some(Self { immediate, ..code })
    }

    /// A register, or what stands in its place, and an operand.
    fn modrm(self, prefixes: Prefixes, bytes: &mut Bytes<'_>, is_group: bool) -> Option<Self> {
        let byte = bytes.next()?;
        let middle = (byte >> 3) & 7;
        let register = if is_group { middle.into() } else { prefixes.extended(middle, 4) };
        let operand = match byte >> 6 {
            3 => Operand::Register(prefixes.extended(byte & 7, 1)),
            mode => memory(mode, byte & 7, prefixes, bytes)?,
        };
        // Registers of one byte are the lowest bytes of all only with a prefix; without, four are the second bytes.
        let is_second =
            |number: usize| self.size == 1 && prefixes.rex == 0 && (4..8).contains(&number);
        let is_odd = matches!(operand, Operand::Register(number) if is_second(number))
            || (!is_group && self.size == 1 && is_second(register));
        (!is_odd).then_some(Self { register, operand, ..self })
    }
}

fn memory(mode: u8, low: u8, prefixes: Prefixes, bytes: &mut Bytes<'_>) -> Option<Operand> {
    let (mut base, mut index, mut scale) = (Some(prefixes.extended(low, 1)), None, 1);
    let mut has_no_base = mode == 0 && low == 5;
    if has_no_base {
        base = Some(Code::PC);
    }
    if low == 4 {
        let byte = bytes.next()?;
        let number = prefixes.extended((byte >> 3) & 7, 2);
        index = (number != 4).then_some(number);
        scale = 1_u64.checked_shl(u32::from(byte >> 6))?;
        base = Some(prefixes.extended(byte & 7, 1));
        has_no_base = mode == 0 && byte & 7 == 5;
        if has_no_base {
            base = None;
        }
    }
    let offset = match mode {
        1 => bytes.number(1)?,
        2 => bytes.number(4)?,
        _ if has_no_base => bytes.number(4)?,
        _ => 0,
    };
    Some(Operand::Memory { base, index, scale, offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_gcc_are_read() {
        // movzwl 0x2c(%rdi),%eax
        let load = Code::decode(&[0x0f, 0xb7, 0x47, 0x2c]).expect("known");
        let at = Operand::Memory { base: Some(7), index: None, scale: 1, offset: 0x2c };
        assert_eq!((load.opcode, load.register, load.operand, load.len), (0x0fb7, 0, at, 4));
        // cmp $0x8,%ax
        let compare = Code::decode(&[0x66, 0x83, 0xf8, 0x08]).expect("known");
        assert_eq!((compare.opcode, compare.size, compare.immediate), (0x207, 2, 8));
        // movslq (%rcx,%rax,4),%rax
        let table = Code::decode(&[0x48, 0x63, 0x04, 0x81]).expect("known");
        let at = Operand::Memory { base: Some(1), index: Some(0), scale: 4, offset: 0 };
        assert_eq!((table.opcode, table.size, table.operand), (0x63, 8, at));
        // jmp *%rax, with notrack
        let jump = Code::decode(&[0x3e, 0xff, 0xe0]).expect("known");
        assert_eq!((jump.opcode, jump.operand, jump.len), (0x104, Operand::Register(0), 3));
    }

    #[test]
    fn what_is_cut_or_not_known_is_none() {
        for bytes in [&[][..], &[0x48], &[0x0f], &[0x8b, 0x84], &[0xe8, 0, 0, 0, 0], &[0xc3]] {
            assert_eq!(Code::decode(bytes), None, "{bytes:x?}");
        }
    }
}
