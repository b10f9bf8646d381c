//! x87, SSE, AVX, AVX-512 and protection-key registers, from `NT_FPREGSET` (the format of the
//! `FXSAVE` instruction) and `NT_X86_XSTATE` (that of `XSAVE`, not compacted; Intel SDM volume 1,
//! 10.5.1 and 13.4).

use kcore_mem::{Addr, Cursor, Target};

use super::xsave::{Component, Xsave};

/// Offsets in the area of `FXSAVE`.
const ST: usize = 32;
const XMM: usize = 160;
/// Bytes of a slot of `st0` to `st7`, ten of which count.
const ST_SLOT: usize = 16;
const XMM_SIZE: usize = 16;

/// The floating-point and vector registers of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct X86FpRegisters {
    /// Whether the program is one of i386, which has eight vector registers.
    pub is_i386: bool,
    /// The x87 control word.
    pub control: u16,
    /// The x87 status word.
    pub status: u16,
    /// Which x87 registers, by their physical number, hold something: a bit each.
    pub used: u8,
    /// Opcode of the last x87 instruction.
    pub opcode: u16,
    /// Where that instruction lay.
    pub instruction: Addr,
    /// Where its operand lay.
    pub operand: Addr,
    /// The control and status register of SSE.
    pub mxcsr: u32,
    /// The bits that it may have.
    pub mxcsr_mask: u32,
    /// The x87 stack, its top first.
    pub st: [X87Register; 8],
    /// The vector registers as wide as they were saved, `xmm0`, `ymm0` or `zmm0` first.
    pub vectors: Vec<VectorRegister>,
    /// `k0` to `k7` of AVX-512, where they were saved.
    pub masks: Option<[u64; 8]>,
    /// The rights of the protection keys, where they were saved.
    pub pkru: Option<u32>,
    /// How much of the vector registers is in use.
    pub in_use: VectorUse,
}

/// A register of the x87 stack: 80 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct X87Register {
    /// Sign, and 15 bits of exponent.
    pub exponent: u16,
    /// The significand, whose highest bit is the integer.
    pub significand: u64,
}

/// A vector register: as many bytes as were saved, lowest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorRegister(pub Vec<u8>);

/// Which parts of the vector registers the processor said were not in their initial state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VectorUse {
    /// The upper halves of `ymm0` to `ymm15`.
    pub ymm: bool,
    /// The upper halves of `zmm0` to `zmm15`.
    pub zmm: bool,
    /// `zmm16` to `zmm31`.
    pub high: bool,
    /// `k0` to `k7`.
    pub masks: bool,
}

impl X86FpRegisters {
    /// Reads the notes, of which the second holds all that the first does; `None` when both are
    /// missing or too short.
    pub(crate) fn parse(
        basic: Option<&[u8]>,
        extended: Option<&[u8]>,
        layout: Option<&[u8]>,
        is_i386: bool,
    ) -> Option<Self> {
        let xsave = extended.and_then(|bytes| Xsave::parse(bytes, layout));
        let area = xsave.as_ref().map(Xsave::legacy).or(basic)?;
        let registers = Self::from_legacy(area, is_i386)?;
        Some(match xsave {
            Some(xsave) => registers.with(&xsave),
            None => registers,
        })
    }

    fn from_legacy(area: &[u8], is_i386: bool) -> Option<Self> {
        // Two words: of 64 bits each, or an offset and a selector.
        let pointer = if is_i386 { 4 } else { 8 };
        let mut cursor = Cursor::new(area, Target::X86_64);
        let (control, status) = (cursor.u16().ok()?, cursor.u16().ok()?);
        let used = cursor.u16().ok()?.to_le_bytes()[0];
        let opcode = cursor.u16().ok()?;
        let instruction = cursor.uint(pointer).ok()?;
        cursor.skip(8_usize.saturating_sub(pointer)).ok()?;
        let operand = cursor.uint(pointer).ok()?;
        cursor.skip(8_usize.saturating_sub(pointer)).ok()?;
        let (mxcsr, mxcsr_mask) = (cursor.u32().ok()?, cursor.u32().ok()?);
        let mut st = [X87Register::default(); 8];
        for (index, register) in st.iter_mut().enumerate() {
            *register = X87Register::parse(slot(area, ST, ST_SLOT, index)?)?;
        }
        let count = if is_i386 { 8 } else { 16 };
        let vectors = (0..count).map(|index| slot(area, XMM, XMM_SIZE, index).map(<[u8]>::to_vec));
        Some(Self {
            is_i386,
            control,
            status,
            used,
            opcode,
            instruction: Addr::new(instruction),
            operand: Addr::new(operand),
            mxcsr,
            mxcsr_mask,
            st,
            vectors: vectors.map(|bytes| bytes.map(VectorRegister)).collect::<Option<_>>()?,
            masks: None,
            pkru: None,
            in_use: VectorUse::default(),
        })
    }

    /// Adds what only the extended area has. A part is added behind those below it alone.
    fn with(mut self, xsave: &Xsave<'_>) -> Self {
        if let Some(halves) = xsave.component(Component::Ymm) {
            self.widen(halves, 16);
            if let Some(halves) = xsave.component(Component::Zmm) {
                self.widen(halves, 32);
                let high = xsave.component(Component::HighZmm).filter(|_| !self.is_i386);
                let high = high.unwrap_or_default();
                self.vectors.extend(high.chunks_exact(64).map(|it| VectorRegister(it.to_vec())));
            }
        }
        self.masks = xsave.component(Component::Masks).and_then(masks);
        let pkru = xsave.component(Component::Pkru).and_then(<[u8]>::first_chunk);
        self.pkru = pkru.map(|bytes| u32::from_le_bytes(*bytes));
        self.in_use = VectorUse {
            ymm: xsave.is_in_use(Component::Ymm),
            zmm: xsave.is_in_use(Component::Zmm),
            high: xsave.is_in_use(Component::HighZmm),
            masks: xsave.is_in_use(Component::Masks),
        };
        self
    }

    /// Puts the upper part of `size` bytes above each of the first 16 vectors.
    fn widen(&mut self, halves: &[u8], size: usize) {
        for (vector, half) in self.vectors.iter_mut().zip(halves.chunks_exact(size)) {
            vector.0.extend_from_slice(half);
        }
    }

    /// xmm0 to xmm15 are 17 to 32, xmm16 to xmm31 67 to 82, st0 to st7 33 to 40 (System V ABI, figure
    /// 3.36). On i386 st0 to st7 are 11 to 18, xmm0 to xmm7 21 to 28 (its supplement, table 2.14).
    pub(crate) fn by_dwarf_number(&self, number: u16) -> Option<Vec<u8>> {
        let vector = |index: u16| Some(self.vectors.get(usize::from(index))?.0.clone());
        let stack = |index: u16| Some(self.st.get(usize::from(index))?.bytes());
        match (self.is_i386, number) {
            (true, 11..=18) => stack(number - 11),
            (true, 21..=28) => vector(number - 21),
            (false, 17..=32) => vector(number - 17),
            (false, 67..=82) => vector(number - 67 + 16),
            (false, 33..=40) => stack(number - 33),
            _ => None,
        }
    }

    /// The physical number of the register that is `st0`.
    pub const fn top(&self) -> u8 {
        (self.status >> 11) as u8 & 7
    }

    /// Whether `st` of this number holds something.
    pub const fn is_used(&self, index: u8) -> bool {
        self.used & (1 << (self.top().wrapping_add(index) & 7)) != 0
    }
}

impl X87Register {
    /// As memory has it.
    fn bytes(self) -> Vec<u8> {
        [&self.significand.to_le_bytes()[..], &self.exponent.to_le_bytes()].concat()
    }

    fn parse(slot: &[u8]) -> Option<Self> {
        let mut cursor = Cursor::new(slot, Target::X86_64);
        let significand = cursor.u64().ok()?;
        Some(Self { exponent: cursor.u16().ok()?, significand })
    }
}

/// The slot of a number in a table of slots.
fn slot(area: &[u8], table: usize, size: usize, index: usize) -> Option<&[u8]> {
    let start = table.checked_add(size.checked_mul(index)?)?;
    area.get(start..)?.get(..size)
}

fn masks(bytes: &[u8]) -> Option<[u64; 8]> {
    let mut cursor = Cursor::new(bytes, Target::X86_64);
    let mut masks = [0; 8];
    for mask in &mut masks {
        *mask = cursor.u64().ok()?;
    }
    Some(masks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An area of `FXSAVE`: st0 is 1.0 in physical register 7, xmm3 is its number.
    fn legacy() -> Vec<u8> {
        let mut area = vec![0; 512];
        area[..8].copy_from_slice(&[0x7f, 0x03, 0x00, 0x38, 0x80, 0x00, 0x34, 0x12]);
        area[24..28].copy_from_slice(&0x1f80_u32.to_le_bytes());
        area[32..42].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f]);
        area[160 + 48] = 3;
        area
    }

    fn extended(size: usize, xcr0: u64, in_use: u64, parts: &[(usize, &[u8])]) -> Vec<u8> {
        let mut area = legacy();
        area[464..472].copy_from_slice(&xcr0.to_le_bytes());
        area.resize(size, 0);
        area[512..520].copy_from_slice(&in_use.to_le_bytes());
        for (at, bytes) in parts {
            area[*at..*at + bytes.len()].copy_from_slice(bytes);
        }
        area
    }

    fn parse(extended: &[u8], layout: Option<&[u8]>) -> X86FpRegisters {
        X86FpRegisters::parse(None, Some(extended), layout, false).unwrap()
    }

    #[test]
    fn the_first_area_has_the_x87_stack_and_sse() {
        let read = X86FpRegisters::parse(Some(&legacy()), None, None, false).unwrap();
        assert_eq!((read.control, read.status, read.used), (0x37f, 0x3800, 0x80));
        assert_eq!((read.opcode, read.mxcsr), (0x1234, 0x1f80));
        assert_eq!((read.top(), read.is_used(0), read.is_used(1)), (7, true, false));
        assert_eq!(read.st[0], X87Register { exponent: 0x3fff, significand: 1 << 63 });
        assert_eq!(read.vectors[3].0[..2], [3, 0]);
        assert_eq!(read.by_dwarf_number(17 + 3).unwrap()[0], 3);
        assert_eq!(read.by_dwarf_number(33).unwrap(), [0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f]);
        assert_eq!((read.by_dwarf_number(16), read.by_dwarf_number(67)), (None, None));
        assert_eq!((read.vectors.len(), read.vectors[0].0.len()), (16, 16));
        assert_eq!(X86FpRegisters::parse(Some(&legacy()[..415]), None, None, false), None);
        assert_eq!(X86FpRegisters::parse(None, None, None, false), None);
    }

    #[test]
    fn a_program_of_i386_has_eight_vectors_and_numbers_of_its_own() {
        let mut area = legacy();
        area[8..24].copy_from_slice(&[1, 0, 0, 8, 0x23, 0, 0, 0, 2, 0, 0, 8, 0x2b, 0, 0, 0]);
        let read = X86FpRegisters::parse(Some(&area), None, None, true).unwrap();
        assert_eq!((read.instruction.get(), read.operand.get()), (0x0800_0001, 0x0800_0002));
        assert_eq!((read.vectors.len(), read.by_dwarf_number(24).unwrap()[0]), (8, 3));
        assert_eq!(read.by_dwarf_number(11).unwrap()[9], 0x3f);
        assert_eq!((read.by_dwarf_number(33), read.by_dwarf_number(29)), (None, None));
    }

    #[test]
    fn wide_registers_are_put_together() {
        let parts: [(usize, &[u8]); 5] =
            [(576, &[1; 16]), (1088, &[7; 8]), (1152, &[2; 32]), (1664, &[9; 64]), (2688, &[5])];
        let read = parse(&extended(2696, 0x2e7, 0xe7, &parts), None);
        assert_eq!((read.vectors.len(), read.vectors[31].0.len()), (32, 64));
        assert_eq!((read.vectors[0].0[16], read.vectors[0].0[32]), (1, 2));
        assert_eq!((read.vectors[1].0[16], read.vectors[16].0[63]), (0, 9));
        assert_eq!(read.masks.unwrap()[0], 0x0707_0707_0707_0707);
        assert_eq!(read.pkru, Some(5));
        assert!(read.in_use.ymm && read.in_use.zmm && read.in_use.high && read.in_use.masks);
    }

    #[test]
    fn components_that_the_system_does_not_save_are_absent() {
        let read = parse(&extended(832, 7, 3, &[]), None);
        assert_eq!((read.vectors.len(), read.vectors[0].0.len()), (16, 32));
        assert_eq!((read.masks, read.pkru, read.in_use.ymm), (None, None, false));
        let cut = parse(&extended(700, 7, 7, &[]), None);
        assert_eq!(cut.vectors[0].0.len(), 16, "the upper halves are cut off");
    }

    #[test]
    fn other_processors_have_other_offsets() {
        let amd =
            parse(&extended(2440, 0x2e7, 0xe7, &[(576, &[1]), (896, &[2]), (832, &[7])]), None);
        assert_eq!((amd.vectors[0].0[16], amd.vectors[0].0[32]), (1, 2));
        assert_eq!(amd.masks.unwrap()[0], 7);
        let entry = |fields: [u32; 4]| fields.map(u32::to_le_bytes).concat();
        let layout = [entry([2, 256, 640, 0]), entry([9, 8, 600, 0])].concat();
        let told = parse(&extended(896, 0x207, 7, &[(640, &[3]), (600, &[8])]), Some(&layout));
        assert_eq!((told.vectors[0].0[16], told.pkru), (3, Some(8)));
    }
}
