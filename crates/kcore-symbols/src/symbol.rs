//! One symbol: how it is kept, how it is shown, and how one is given from outside.

use kcore_elf::{SymbolBinding, SymbolKind, SymbolTableKind};
use kcore_mem::Svma;

use crate::{
    names::{NameAt, SHORT},
    table::SymbolTable,
};

/// `SHN_ABS`: the value is no address.
const SHN_ABS: u16 = 0xfff1;

/// Where a symbol was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SymbolSource {
    /// `.symtab`, of the module's file or of its debug file.
    Full,
    /// `.dynsym`.
    Dynamic,
    /// Made up for an entry of the procedure linkage table, `name@plt`.
    Plt,
    /// The dynamic symbols in the memory of the process.
    Memory,
    /// The table of functions that Go's linker makes for its runtime. It is read only if the file has no `.symtab`.
    GoTable,
}

impl From<SymbolTableKind> for SymbolSource {
    fn from(kind: SymbolTableKind) -> Self {
        match kind {
            SymbolTableKind::Full => Self::Full,
            SymbolTableKind::Dynamic => Self::Dynamic,
        }
    }
}

/// A symbol that was read elsewhere, such as in the memory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawSymbol {
    /// Index in its table.
    pub index: u32,
    /// Name, still mangled.
    pub name: Vec<u8>,
    /// Value: for a function or data its address as the file states it.
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

/// The number of a symbol in its [`SymbolTable`], good as a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub(crate) u32);

/// A symbol as the table keeps it.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub value: Svma,
    pub size: u64,
    pub name: NameAt,
    pub index: u32,
    pub section: u16,
    pub other: u8,
    pub kind: SymbolKind,
    pub binding: SymbolBinding,
    pub source: SymbolSource,
    /// Whether its section is in memory: values in others, such as the linker's `.gnu.warning`,
    /// are no addresses.
    pub loaded: bool,
}

impl Entry {
    /// Whether the module defines it.
    pub const fn is_defined(&self) -> bool {
        self.section != 0
    }

    /// Whether its value is the address of a thing in memory that has a name of its own.
    pub const fn has_address(&self) -> bool {
        let named = matches!(
            self.kind,
            SymbolKind::NoType
                | SymbolKind::Object
                | SymbolKind::Function
                | SymbolKind::IndirectFunction
                | SymbolKind::Common
        );
        named && self.loaded && self.is_defined() && self.section != SHN_ABS
    }
}

/// A symbol of a [`SymbolTable`].
#[derive(Clone, Copy)]
pub struct SymbolRef<'a> {
    pub(crate) table: &'a SymbolTable,
    pub(crate) entry: &'a Entry,
    pub(crate) id: SymbolId,
}

impl<'a> SymbolRef<'a> {
    /// Its number in the table, good as a key.
    pub const fn id(&self) -> SymbolId {
        self.id
    }

    /// Its name as in the file, still mangled, without a version (`@GLIBC_2.2.5`).
    pub fn name(&self) -> &'a [u8] {
        without_version(self.versioned_name())
    }

    /// Whether its name in the file begins with `prefix`; no more of the name is read.
    pub fn name_begins_with(&self, prefix: &[u8]) -> bool {
        self.table.names().begins_with(self.entry.name, prefix)
    }

    /// Bytes from the beginning of its name on, those of other names behind it: to find the end of a
    /// million names would be to read them all.
    pub(crate) fn name_and_more(&self) -> &'a [u8] {
        self.table.names().rest(self.entry.name)
    }

    /// Its name as in the file, to the last byte.
    pub fn versioned_name(&self) -> &'a [u8] {
        self.table.names().get(self.entry.name)
    }

    /// Its value: for a function or data its address in the file.
    pub const fn value(&self) -> Svma {
        self.entry.value
    }

    /// Its size in bytes as the table says, 0 when unknown.
    pub const fn size(&self) -> u64 {
        self.entry.size
    }

    /// Bytes that it covers: its size, or for code without one the bytes up to the next symbol or
    /// the end of its section.
    pub fn extent(&self) -> u64 {
        self.table.extent(self.entry)
    }

    /// What it names.
    pub const fn kind(&self) -> SymbolKind {
        self.entry.kind
    }

    /// Who sees it.
    pub const fn binding(&self) -> SymbolBinding {
        self.entry.binding
    }

    /// `st_other`.
    pub const fn other(&self) -> u8 {
        self.entry.other
    }

    /// `st_shndx`; 0 is undefined, from 0xff00 on reserved.
    pub const fn section_index(&self) -> u16 {
        self.entry.section
    }

    /// Index in the table that it was read from.
    pub const fn index(&self) -> u32 {
        self.entry.index
    }

    /// Where it was read.
    pub const fn source(&self) -> SymbolSource {
        self.entry.source
    }

    /// Whether the module defines it.
    pub const fn is_defined(&self) -> bool {
        self.entry.is_defined()
    }
}

impl std::fmt::Debug for SymbolRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = String::from_utf8_lossy(self.versioned_name());
        write!(f, "{name} [{:x},+{:x})", self.entry.value, self.entry.size)
    }
}

impl PartialEq for SymbolRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.table, other.table) && self.id == other.id
    }
}

/// A name without the version that GNU linkers append (`puts@GLIBC_2.2.5`, `environ@@GLIBC_2.2.5`).
/// The `@plt` of a linkage table entry is no version.
pub fn without_version(name: &[u8]) -> &[u8] {
    // Versions are short: of a long name, which many symbols may have, the end is looked at.
    let before = name.len().saturating_sub(SHORT);
    let end = name.get(before..).unwrap_or_default();
    // `contains` is a fast search for a byte, and nearly always says no.
    let versioned = end.contains(&b'@');
    let at = versioned.then(|| end.iter().position(|byte| *byte == b'@')).flatten();
    let at = at.map(|at| before.saturating_add(at)).filter(|at| *at > 0);
    match at.map(|at| name.split_at(at)) {
        Some((_, b"@plt")) | None => name,
        Some((bare, _)) => bare,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_cut_and_linkage_entries_are_not() {
        assert_eq!(without_version(b"puts@GLIBC_2.2.5"), b"puts");
        assert_eq!(without_version(b"environ@@GLIBC_2.2.5"), b"environ");
        assert_eq!(without_version(b"puts@plt"), b"puts@plt");
        assert_eq!(without_version(b"@odd"), b"@odd");
    }
}
