//! Sections of a module's file.

use goblin::elf::section_header::SectionHeader;
use kcore_mem::{FileOff, Svma};

use crate::image_symbol::string_at;

const SHT_NOBITS: u32 = 8;
const SHF_ALLOC: u64 = 2;
const SHF_COMPRESSED: u64 = 0x800;
/// How GNU tools named compressed sections before the gABI had a flag for them (binutils 2.26, `bfd/compress.c`).
const GNU_COMPRESSED: &str = ".zdebug_";

/// A section header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSection {
    /// Its name; invalid UTF-8 is replaced. Of one with GNU's old name for compressed sections the name that it has
    /// when it is not compressed.
    pub name: String,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// `sh_addr`.
    pub svma: Svma,
    /// `sh_size`, bytes.
    pub size: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_entsize`, bytes.
    pub entry_size: u64,
    offset: FileOff,
    /// Whether its name says that it is compressed.
    is_gnu_compressed: bool,
}

impl ImageSection {
    pub(crate) fn new(header: &SectionHeader, names: &[u8]) -> Self {
        let name = String::from_utf8_lossy(string_at(names, header.sh_name)).into_owned();
        let plain = name.strip_prefix(GNU_COMPRESSED).map(|rest| format!(".debug_{rest}"));
        Self {
            is_gnu_compressed: plain.is_some(),
            name: plain.unwrap_or(name),
            kind: header.sh_type,
            flags: header.sh_flags,
            svma: Svma::new(header.sh_addr),
            size: header.sh_size,
            link: header.sh_link,
            entry_size: header.sh_entsize,
            offset: FileOff::new(header.sh_offset),
        }
    }

    /// Offset and length in the file; `None` when it has no bytes there.
    pub fn file_range(&self) -> Option<(FileOff, u64)> {
        (self.kind != SHT_NOBITS).then_some((self.offset, self.size))
    }

    /// Whether the process has it in memory.
    pub const fn is_loaded(&self) -> bool {
        self.flags & SHF_ALLOC != 0
    }

    /// Whether the file holds it compressed.
    pub const fn is_compressed(&self) -> bool {
        self.is_gnu_compressed || self.flags & SHF_COMPRESSED != 0
    }

    /// Whether it is compressed in GNU's old style: `ZLIB` and its size before the data.
    pub(crate) const fn is_gnu_compressed(&self) -> bool {
        self.is_gnu_compressed
    }
}
