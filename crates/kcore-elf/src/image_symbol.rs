//! Symbols of a module's file.

use std::ffi::CStr;

use goblin::elf::Sym;
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
    /// Name as in the file.
    pub name: &'a [u8],
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
}

impl<'a> ImageSymbol<'a> {
    pub(crate) fn new(index: usize, symbol: &Sym, strings: &'a [u8]) -> Self {
        Self {
            index,
            name: string_at(strings, symbol.st_name),
            value: Svma::new(symbol.st_value),
            size: symbol.st_size,
            kind: SymbolKind::from_elf(symbol.st_type()),
            binding: SymbolBinding::from_elf(symbol.st_bind()),
            other: symbol.st_other,
            section: u16::try_from(symbol.st_shndx).unwrap_or(u16::MAX),
        }
    }

    /// Whether the module defines it.
    pub const fn is_defined(&self) -> bool {
        self.section != 0
    }
}

/// The string that begins at `offset`, up to its NUL or the end of the table.
pub fn string_at(strings: &[u8], offset: usize) -> &[u8] {
    let rest = strings.get(offset..).unwrap_or_default();
    // This is called for each of a million names: the search for NUL by `CStr` is a fast one.
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
