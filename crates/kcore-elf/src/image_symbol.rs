//! Symbols of a module's file.

use std::ffi::CStr;

use goblin::{
    container::Ctx,
    elf::{Sym, Symtab},
};
use kcore_mem::Svma;

/// Which of the two symbol tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolTableKind {
    /// `.symtab`.
    Full,
    /// `.dynsym`.
    Dynamic,
}

impl SymbolTableKind {
    pub(crate) const fn section_type(self) -> u32 {
        match self {
            Self::Full => 2,
            Self::Dynamic => 11,
        }
    }
}

/// What a symbol names (`STT_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// Nothing said.
    NoType,
    /// Data.
    Object,
    /// A function.
    Function,
    /// A section.
    Section,
    /// A source file.
    File,
    /// An uninitialized common block.
    Common,
    /// A thread-local variable; its value is an offset in the module's TLS block.
    Tls,
    /// A function that chooses the function to call when the program is linked.
    IndirectFunction,
    /// Any other.
    Other(u8),
}

impl SymbolKind {
    /// The kind by the low four bits of `st_info`.
    pub const fn from_elf(kind: u8) -> Self {
        match kind {
            0 => Self::NoType,
            1 => Self::Object,
            2 => Self::Function,
            3 => Self::Section,
            4 => Self::File,
            5 => Self::Common,
            6 => Self::Tls,
            10 => Self::IndirectFunction,
            other => Self::Other(other),
        }
    }

    /// Whether it names code.
    pub const fn is_function(self) -> bool {
        matches!(self, Self::Function | Self::IndirectFunction)
    }
}

/// Who sees a symbol (`STB_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolBinding {
    /// Its object file.
    Local,
    /// Everybody.
    Global,
    /// Everybody, unless a global one exists.
    Weak,
    /// Any other.
    Other(u8),
}

impl SymbolBinding {
    /// The binding by the high four bits of `st_info`.
    pub const fn from_elf(binding: u8) -> Self {
        match binding {
            0 => Self::Local,
            1 | 10 => Self::Global,
            2 => Self::Weak,
            other => Self::Other(other),
        }
    }
}

/// One symbol, its name still mangled and still in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSymbol<'a> {
    /// Index in its table.
    pub index: usize,
    /// Where its name begins in the table's strings, see [`crate::Image::symbol_strings`].
    pub name_start: u32,
    /// Value; for a function or data its address in the file.
    pub value: Svma,
    /// Size in bytes, 0 when unknown.
    pub size: u64,
    /// What it names.
    pub kind: SymbolKind,
    /// Who sees it.
    pub binding: SymbolBinding,
    /// `st_other`.
    pub other: u8,
    /// `st_shndx`; 0 is undefined.
    pub section: u16,
    strings: &'a [u8],
}

impl<'a> ImageSymbol<'a> {
    pub(crate) fn new(index: usize, symbol: &Sym, strings: &'a [u8]) -> Self {
        Self {
            index,
            name_start: u32::try_from(symbol.st_name).unwrap_or(u32::MAX),
            value: Svma::new(symbol.st_value),
            size: symbol.st_size,
            kind: SymbolKind::from_elf(symbol.st_type()),
            binding: SymbolBinding::from_elf(symbol.st_bind()),
            other: symbol.st_other,
            section: u16::try_from(symbol.st_shndx).unwrap_or(u16::MAX),
            strings,
        }
    }

    /// The same with another value.
    pub(crate) const fn at(self, value: Svma) -> Self {
        Self { value, ..self }
    }

    /// Name as in the file.
    pub fn name(&self) -> &'a [u8] {
        string_at(self.strings, self.name_start as usize)
    }

    /// Whether the module defines it.
    pub const fn is_defined(&self) -> bool {
        self.section != 0
    }
}

/// One symbol of a table.
pub fn parse(bytes: &[u8], ctx: Ctx) -> Option<Sym> {
    match bytes.first_chunk() {
        // A program has a million of these; others are rare.
        Some(bytes) if ctx.is_big() && ctx.le.is_little() => Some(parse_elf64(bytes)),
        _ => Symtab::parse(bytes, 0, 1, ctx).ok()?.get(0),
    }
}

/// `Elf64_Sym`, little endian.
fn parse_elf64(bytes: &[u8; 24]) -> Sym {
    let [n0, n1, n2, n3, st_info, st_other, s0, s1, rest @ ..] = *bytes;
    let [v0, v1, v2, v3, v4, v5, v6, v7, size @ ..] = rest;
    Sym {
        st_name: u32::from_le_bytes([n0, n1, n2, n3]) as usize,
        st_info,
        st_other,
        st_shndx: u16::from_le_bytes([s0, s1]).into(),
        st_value: u64::from_le_bytes([v0, v1, v2, v3, v4, v5, v6, v7]),
        st_size: u64::from_le_bytes(size),
    }
}

/// The string that begins at `offset`, up to its NUL or the end of the table.
pub fn string_at(strings: &[u8], offset: usize) -> &[u8] {
    let rest = strings.get(offset..).unwrap_or_default();
    // The search for NUL by `CStr` is a fast one.
    CStr::from_bytes_until_nul(rest).map_or(rest, CStr::to_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_never_leave_their_table() {
        assert_eq!(string_at(b"\0ab\0cd", 1), b"ab");
        assert_eq!(string_at(b"\0ab\0cd", 4), b"cd");
        assert_eq!(string_at(b"\0ab\0cd", 99), b"");
    }
}
