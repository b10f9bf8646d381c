//! The attributes of entries, passed over as fast as bytes can be: an index looks at every entry of a
//! module and wants little of each.

use gimli::{DwForm, Encoding, Format, constants};

/// Forms within forms (`DW_FORM_indirect`) that are followed.
const MAX_INDIRECT: usize = 4;

/// The bytes of a unit from an entry on.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    /// What is not read yet.
    pub bytes: &'a [u8],
    encoding: Encoding,
    is_big_endian: bool,
}

/// How many bytes a form has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// So many.
    Fixed(u8),
    /// A LEB128 number.
    Leb128,
    /// Up to a NUL.
    Text,
    /// A length of so many bytes, and what it counts; 0 stands for a length in LEB128.
    Block(u8),
    /// The form stands before the value.
    Indirect,
}

impl<'a> Raw<'a> {
    /// The bytes of a unit with this encoding.
    pub const fn new(bytes: &'a [u8], encoding: Encoding, is_big_endian: bool) -> Self {
        Self { bytes, encoding, is_big_endian }
    }

    /// Passes over so many bytes.
    #[inline]
    pub fn skip(&mut self, count: usize) -> Option<()> {
        self.bytes = self.bytes.get(count..)?;
        Some(())
    }

    /// A LEB128 number without sign; bits above 64 are lost.
    #[inline]
    pub fn leb128(&mut self) -> Option<u64> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        if first < 0x80 {
            return Some(first.into());
        }
        let mut value = u64::from(first & 0x7f);
        let mut shift: u32 = 7;
        loop {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return Some(value);
            }
            shift = shift.saturating_add(7);
        }
    }

    /// A number of `count` bytes, 8 at most.
    pub fn number(&mut self, count: u8) -> Option<u64> {
        let (bytes, rest) = self.bytes.split_at_checked(count.into())?;
        self.bytes = rest;
        let add = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
        Some(match self.is_big_endian {
            true => bytes.iter().fold(0, add),
            false => bytes.iter().rev().fold(0, add),
        })
    }

    /// Passes over a value.
    #[inline]
    pub fn pass(&mut self, width: Width) -> Option<()> {
        match width {
            Width::Fixed(count) => self.skip(count.into()),
            Width::Leb128 => self.leb128().map(|_| ()),
            Width::Text => self.text().map(|_| ()),
            Width::Block(_) => self.block(width).map(|_| ()),
            Width::Indirect => {
                let form = self.form()?;
                self.pass(self.width(form)?)
            }
        }
    }

    /// The form that stands before a value, which is none that stands for another.
    pub fn form(&mut self) -> Option<DwForm> {
        for _ in 0..MAX_INDIRECT {
            let form = DwForm(u16::try_from(self.leb128()?).ok()?);
            if form != constants::DW_FORM_indirect {
                return Some(form);
            }
        }
        None
    }

    /// Text up to its NUL, which is passed over.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let len = self.bytes.iter().position(|byte| *byte == 0)?;
        let text = self.bytes.get(..len)?;
        self.skip(len.checked_add(1)?)?;
        Some(text)
    }

    /// The bytes of a block.
    pub fn block(&mut self, width: Width) -> Option<&'a [u8]> {
        let len = match width {
            Width::Block(0) => self.leb128()?,
            Width::Block(count) => self.number(count)?,
            _ => return None,
        };
        let (block, rest) = self.bytes.split_at_checked(usize::try_from(len).ok()?)?;
        self.bytes = rest;
        Some(block)
    }

    /// How many bytes a form has in this unit; `None` of one that is not known.
    pub const fn width(&self, form: DwForm) -> Option<Width> {
        let offset = match self.encoding.format {
            Format::Dwarf32 => 4,
            Format::Dwarf64 => 8,
        };
        Some(match form {
            constants::DW_FORM_flag_present | constants::DW_FORM_implicit_const => Width::Fixed(0),
            constants::DW_FORM_data1
            | constants::DW_FORM_ref1
            | constants::DW_FORM_flag
            | constants::DW_FORM_strx1
            | constants::DW_FORM_addrx1 => Width::Fixed(1),
            constants::DW_FORM_data2
            | constants::DW_FORM_ref2
            | constants::DW_FORM_strx2
            | constants::DW_FORM_addrx2 => Width::Fixed(2),
            constants::DW_FORM_strx3 | constants::DW_FORM_addrx3 => Width::Fixed(3),
            constants::DW_FORM_data4
            | constants::DW_FORM_ref4
            | constants::DW_FORM_ref_sup4
            | constants::DW_FORM_strx4
            | constants::DW_FORM_addrx4 => Width::Fixed(4),
            constants::DW_FORM_data8
            | constants::DW_FORM_ref8
            | constants::DW_FORM_ref_sig8
            | constants::DW_FORM_ref_sup8 => Width::Fixed(8),
            constants::DW_FORM_data16 => Width::Fixed(16),
            constants::DW_FORM_addr => Width::Fixed(self.encoding.address_size),
            constants::DW_FORM_ref_addr if self.encoding.version <= 2 => {
                Width::Fixed(self.encoding.address_size)
            }
            constants::DW_FORM_ref_addr
            | constants::DW_FORM_sec_offset
            | constants::DW_FORM_strp
            | constants::DW_FORM_line_strp
            | constants::DW_FORM_strp_sup
            | constants::DW_FORM_GNU_ref_alt
            | constants::DW_FORM_GNU_strp_alt => Width::Fixed(offset),
            constants::DW_FORM_sdata
            | constants::DW_FORM_udata
            | constants::DW_FORM_ref_udata
            | constants::DW_FORM_strx
            | constants::DW_FORM_addrx
            | constants::DW_FORM_loclistx
            | constants::DW_FORM_rnglistx
            | constants::DW_FORM_GNU_str_index
            | constants::DW_FORM_GNU_addr_index => Width::Leb128,
            constants::DW_FORM_string => Width::Text,
            constants::DW_FORM_block1 => Width::Block(1),
            constants::DW_FORM_block2 => Width::Block(2),
            constants::DW_FORM_block4 => Width::Block(4),
            constants::DW_FORM_block | constants::DW_FORM_exprloc => Width::Block(0),
            constants::DW_FORM_indirect => Width::Indirect,
            _ => return None,
        })
    }
}
