//! How long an instruction is, and whether it is a call: as much decoding as a walker needs.
//!
//! Intel SDM volume 2, appendix A. Invalid opcodes need not be refused, since only code that ran
//! is decoded; what matters is that the length of a valid instruction is right.

use kcore_mem::{Addr, AddressSpace};

/// Longest instruction.
pub const MAX_LEN: usize = 15;

/// An instruction, taken apart as far as its effect on the stack needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Decoded {
    /// Bytes.
    pub len: usize,
    /// The opcode map: 0 one byte, 1 `0f`, 2 `0f 38`, 3 `0f 3a`, 4 and above VEX and EVEX.
    pub map: u8,
    /// The opcode.
    pub opcode: u8,
    /// The REX prefix, 0 without one.
    pub rex: u8,
    /// The ModRM byte, if there is one.
    pub modrm: Option<u8>,
    /// The displacement of a memory operand.
    pub displacement: i64,
    /// Whether a memory operand has an index register or a base other than the ModRM field says.
    pub has_sib: bool,
    /// The SIB byte.
    pub sib: u8,
    /// The immediate or relative operand, sign-extended.
    pub immediate: i64,
    /// Whether a 66 prefix stood before it.
    pub operand_size_16: bool,
    /// Whether a memory operand lies in the segment of the thread, or its address has 32 bits.
    pub is_odd_memory: bool,
    /// The register that VEX names beside those of ModRM.
    pub third_register: u8,
}

impl Decoded {
    /// The `reg` field of ModRM.
    pub fn reg_field(&self) -> u8 {
        (self.modrm.unwrap_or_default() >> 3) & 7
    }

    /// The `rm` field of ModRM with REX.B.
    pub fn rm_register(&self) -> u8 {
        (self.modrm.unwrap_or_default() & 7) | ((self.rex & 1) << 3)
    }

    /// The `reg` field of ModRM with REX.R.
    pub fn reg_register(&self) -> u8 {
        self.reg_field() | ((self.rex & 4) << 1)
    }

    /// Whether the `rm` operand is a register and not memory.
    pub fn rm_is_register(&self) -> bool {
        self.modrm.is_some_and(|modrm| modrm >> 6 == 3)
    }

    /// Whether REX.W stands before it: operands of 64 bits.
    pub const fn is_wide(&self) -> bool {
        self.rex & 8 != 0
    }

    /// The register in the low bits of the opcode, with REX.B.
    pub const fn short_register(&self) -> u8 {
        (self.opcode & 7) | ((self.rex & 1) << 3)
    }

    /// The base register of a memory operand that is one register and a constant.
    pub fn base_register(&self) -> Option<u8> {
        let (mode, rm) = (self.modrm? >> 6, self.modrm? & 7);
        let base = if self.has_sib { self.sib & 7 } else { rm };
        let is_indexed = self.has_sib && (self.sib >> 3 & 7 != 4 || self.rex & 2 != 0);
        let has_no_base = mode == 0 && base == 5;
        let is_plain = mode != 3 && !is_indexed && !has_no_base && !self.is_odd_memory;
        is_plain.then_some(base | ((self.rex & 1) << 3))
    }

    /// Whether a memory operand lies a constant from the next instruction.
    pub fn is_relative_to_pc(&self) -> bool {
        self.modrm.is_some_and(|modrm| modrm >> 6 == 0 && modrm & 7 == 5)
    }
}

/// Takes the first instruction of `bytes` apart; `None` when they hold no whole one.
pub fn decode(bytes: &[u8]) -> Option<Decoded> {
    let mut reader = Reader { bytes, at: 0 };
    let mut found = Decoded::default();
    let mut address_size_32 = false;
    let opcode = loop {
        match reader.u8()? {
            0x66 => found.operand_size_16 = true,
            0x67 => address_size_32 = true,
            0x64 | 0x65 => found.is_odd_memory = true,
            0x26 | 0x2e | 0x36 | 0x3e | 0xf0 | 0xf2 | 0xf3 => {}
            rex @ 0x40..=0x4f => {
                found.rex = rex;
                break reader.u8()?;
            }
            opcode => break opcode,
        }
    };
    found.is_odd_memory |= address_size_32;
    read_opcode(&mut reader, opcode, &mut found)?;
    if has_modrm(found.map, found.opcode) {
        read_modrm(&mut reader, &mut found)?;
    }
    let immediate = immediate_size(&found, address_size_32);
    found.immediate = reader.signed(immediate)?;
    found.len = reader.at;
    (found.len <= MAX_LEN).then_some(found)
}

fn read_opcode(reader: &mut Reader<'_>, opcode: u8, found: &mut Decoded) -> Option<()> {
    (found.map, found.opcode) = match opcode {
        0x0f => match reader.u8()? {
            0x38 => (2, reader.u8()?),
            0x3a => (3, reader.u8()?),
            second => (1, second),
        },
        // VEX with two and three bytes, EVEX: the map is in the low bits of the second byte.
        0xc5 => {
            let vex = reader.u8()?;
            found.rex = (!vex >> 5) & 4;
            found.third_register = (!vex >> 3) & 15;
            (1, reader.u8()?)
        }
        0xc4 => {
            let (vex, rest) = (reader.u8()?, reader.u8()?);
            found.rex = (!vex >> 5) & 7;
            found.third_register = (!rest >> 3) & 15;
            (vex & 0x1f, reader.u8()?)
        }
        0x62 => {
            let map = reader.u8()? & 7;
            reader.u8()?;
            reader.u8()?;
            (map, reader.u8()?)
        }
        opcode => (0, opcode),
    };
    if matches!(opcode, 0xc4 | 0xc5 | 0x62) {
        // Set apart from the plain maps: none of these instructions moves the stack pointer.
        found.map = found.map.saturating_add(4);
    }
    Some(())
}

const fn has_modrm(map: u8, opcode: u8) -> bool {
    match map {
        0 => matches!(
            opcode,
            0x00..=0x03 | 0x08..=0x0b | 0x10..=0x13 | 0x18..=0x1b | 0x20..=0x23 | 0x28..=0x2b
                | 0x30..=0x33 | 0x38..=0x3b | 0x63 | 0x69 | 0x6b | 0x80..=0x8f | 0xc0 | 0xc1
                | 0xc6 | 0xc7 | 0xd0..=0xd3 | 0xd8..=0xdf | 0xf6 | 0xf7 | 0xfe | 0xff
        ),
        1 => !matches!(
            opcode,
            0x05..=0x09 | 0x0b | 0x0e | 0x30..=0x37 | 0x77 | 0x80..=0x8f | 0xa0..=0xa2
                | 0xa8..=0xaa | 0xc8..=0xcf
        ),
        // VZEROUPPER and VZEROALL alone of the VEX instructions have none.
        5 => opcode != 0x77,
        _ => true,
    }
}

fn read_modrm(reader: &mut Reader<'_>, found: &mut Decoded) -> Option<()> {
    let modrm = reader.u8()?;
    found.modrm = Some(modrm);
    let (mode, rm) = (modrm >> 6, modrm & 7);
    if mode == 3 {
        return Some(());
    }
    if rm == 4 {
        found.has_sib = true;
        found.sib = reader.u8()?;
    }
    let displacement = match mode {
        0 if rm == 5 || (rm == 4 && found.sib & 7 == 5) => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    found.displacement = reader.signed(displacement)?;
    Some(())
}

/// Bytes of the immediate operand.
fn immediate_size(found: &Decoded, address_size_32: bool) -> usize {
    let word = if found.operand_size_16 { 2 } else { 4 };
    match (found.map, found.opcode) {
        (0, 0x04 | 0x0c | 0x14 | 0x1c | 0x24 | 0x2c | 0x34 | 0x3c) => 1,
        (0, 0x05 | 0x0d | 0x15 | 0x1d | 0x25 | 0x2d | 0x35 | 0x3d) => word,
        (0, 0x68 | 0x69 | 0x81 | 0xa9 | 0xc7) => word,
        (0, 0x6a | 0x6b | 0x70..=0x7f | 0x80 | 0x83 | 0xa8 | 0xb0..=0xb7) => 1,
        (0, 0xc0 | 0xc1 | 0xc6 | 0xcd | 0xd4 | 0xd5 | 0xe0..=0xe7 | 0xeb) => 1,
        (0, 0xe8 | 0xe9) => 4,
        (0, 0xa0..=0xa3) => {
            if address_size_32 {
                4
            } else {
                8
            }
        }
        (0, 0xb8..=0xbf) => {
            if found.is_wide() {
                8
            } else {
                word
            }
        }
        (0, 0xc2 | 0xca) => 2,
        (0, 0xc8) => 3,
        (0, 0xf6) if found.reg_field() < 2 => 1,
        (0, 0xf7) if found.reg_field() < 2 => word,
        (1, 0x80..=0x8f) => 4,
        (1 | 5, 0x70..=0x73 | 0xc2 | 0xc4..=0xc6) | (1, 0xa4 | 0xac | 0xba) => 1,
        (3 | 7, _) => 1,
        _ => 0,
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn u8(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at = self.at.checked_add(1)?;
        Some(byte)
    }

    /// A little-endian integer of `size` bytes, sign-extended; 0 for no bytes.
    fn signed(&mut self, size: usize) -> Option<i64> {
        let end = self.at.checked_add(size)?;
        let bytes = self.bytes.get(self.at..end)?;
        self.at = end;
        let fill = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
        let mut word = [fill; 8];
        word.get_mut(..size)?.copy_from_slice(bytes);
        Some(i64::from_le_bytes(word))
    }
}

/// Whether the bytes before `at` end in a call instruction.
///
/// Lengths: `e8` with a 32-bit displacement is 5; `ff /2` is 2 to 7, one more with a REX or
/// segment prefix. Each length is read by itself, for there may be nothing before a module's code.
pub fn follows_call(at: Addr, space: &dyn AddressSpace) -> bool {
    const LONGEST: usize = 8;
    (2..=LONGEST).any(|len| {
        let mut bytes = [0; LONGEST];
        let start = Addr::new(at.get().wrapping_sub(len as u64));
        let Some(bytes) = bytes.get_mut(..len) else { return false };
        space.read(start, bytes).is_ok()
            && decode(bytes).is_some_and(|found| found.len == len && is_call(&found))
    })
}

/// The target of a direct call that ends at `at`: `e8` and how far it lies from there.
pub fn called_before(at: Addr, space: &dyn AddressSpace) -> Option<Addr> {
    let mut bytes = [0; 5];
    space.read(at.wrapping_offset(-5), &mut bytes).ok()?;
    let [0xe8, distance @ ..] = bytes else { return None };
    Some(at.wrapping_offset(i64::from(i32::from_le_bytes(distance))))
}

/// Whether it is what assemblers fill gaps with: `nop` in its lengths, `int3`.
pub fn is_padding(found: &Decoded) -> bool {
    matches!((found.map, found.opcode), (0, 0x90 | 0xcc) | (1, 0x1f))
}

/// Whether it is a call, near or far, direct or indirect.
pub fn is_call(found: &Decoded) -> bool {
    match (found.map, found.opcode) {
        (0, 0xe8) => true,
        (0, 0xff) => matches!(found.reg_field(), 2 | 3),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings by GNU as, each with the length that its listing gives.
    #[test]
    fn lengths_are_those_of_the_assembler() {
        let cases: &[(&str, &[u8])] = &[
            ("endbr64", &[0xf3, 0x0f, 0x1e, 0xfa]),
            ("push %rbp", &[0x55]),
            ("push %r12", &[0x41, 0x54]),
            ("mov %rsp,%rbp", &[0x48, 0x89, 0xe5]),
            ("sub $0x10,%rsp", &[0x48, 0x83, 0xec, 0x10]),
            ("sub $0x1000,%rsp", &[0x48, 0x81, 0xec, 0, 0x10, 0, 0]),
            ("mov 0x8(%rsp),%rax", &[0x48, 0x8b, 0x44, 0x24, 0x08]),
            ("lea 0x0(%rip),%rdi", &[0x48, 0x8d, 0x3d, 0, 0, 0, 0]),
            ("movabs $imm,%rax", &[0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8]),
            ("mov $1,%ax", &[0x66, 0xb8, 1, 0]),
            ("movl $1,(%rax)", &[0xc7, 0x00, 1, 0, 0, 0]),
            ("test $1,%al", &[0xa8, 1]),
            ("testl $1,(%rdi)", &[0xf7, 0x07, 1, 0, 0, 0]),
            ("neg %eax", &[0xf7, 0xd8]),
            ("call rel32", &[0xe8, 0, 0, 0, 0]),
            ("call *0x8(%rax)", &[0xff, 0x50, 0x08]),
            ("call *%r9", &[0x41, 0xff, 0xd1]),
            ("je rel32", &[0x0f, 0x84, 0, 0, 0, 0]),
            ("nopw 0x0(%rax,%rax,1)", &[0x66, 0x0f, 0x1f, 0x44, 0, 0]),
            ("movaps %xmm0,0x10(%rsp)", &[0x0f, 0x29, 0x44, 0x24, 0x10]),
            ("pshufd $0,%xmm0,%xmm0", &[0x66, 0x0f, 0x70, 0xc0, 0]),
            ("vzeroupper", &[0xc5, 0xf8, 0x77]),
            ("vmovdqu (%rsi),%ymm0", &[0xc5, 0xfe, 0x6f, 0x06]),
            ("vpalignr $8,%ymm,%ymm,%ymm", &[0xc4, 0xe3, 0x75, 0x0f, 0xc2, 0x08]),
            ("vmovdqu64 (%rsi),%zmm16", &[0x62, 0xe1, 0xfe, 0x48, 0x6f, 0x06]),
            ("fs: mov 0x28,%rax", &[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0]),
            ("lock cmpxchg %edx,(%rdi)", &[0xf0, 0x0f, 0xb1, 0x17]),
            ("enter $16,$0", &[0xc8, 0x10, 0, 0]),
            ("ret $8", &[0xc2, 8, 0]),
            ("syscall", &[0x0f, 0x05]),
        ];
        for (text, bytes) in cases {
            let mut padded = bytes.to_vec();
            padded.extend([0x90; 15]);
            assert_eq!(decode(&padded).map(|found| found.len), Some(bytes.len()), "{text}");
            assert!(decode(&bytes[..bytes.len() - 1]).is_none(), "{text} cut");
        }
    }

    #[test]
    fn operands_are_sign_extended() {
        assert_eq!(decode(&[0x48, 0x83, 0xec, 0xf0]).unwrap().immediate, -16);
        assert_eq!(decode(&[0x48, 0x8b, 0x45, 0xf8]).unwrap().displacement, -8);
    }
}
