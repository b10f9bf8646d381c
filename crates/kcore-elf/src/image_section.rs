//! Sections of a module's file.

use std::io::Read;

use flate2::read::ZlibDecoder;
use goblin::elf::section_header::SectionHeader;
use kcore_mem::{Cursor, FileOff, Svma, Target};

use crate::{Section, image_symbol::string_at};

const SHT_NOBITS: u32 = 8;
const SHF_ALLOC: u64 = 2;
const SHF_COMPRESSED: u64 = 0x800;

/// A section header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSection {
    /// Its name; invalid UTF-8 is replaced.
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
}

impl ImageSection {
    pub(crate) fn new(header: &SectionHeader, names: &[u8]) -> Self {
        Self {
            name: String::from_utf8_lossy(string_at(names, header.sh_name)).into_owned(),
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
        self.flags & SHF_COMPRESSED != 0
    }
}

/// Inflates a section that begins with an `Elf64_Chdr` or `Elf32_Chdr` (gABI, «Compressed
/// sections»): zlib or zstd. It never yields more than the header claims.
pub fn inflate(raw: &[u8], target: Target) -> Option<Section> {
    let mut header = Cursor::new(raw, target);
    let algorithm = header.u32().ok()?;
    if target.word == 8 {
        header.skip(4).ok()?;
    }
    let size = header.word().ok()?;
    header.word().ok()?;
    let bytes = match algorithm {
        1 => read_exactly(ZlibDecoder::new(header.rest()), size),
        2 => read_exactly(ruzstd::decoding::StreamingDecoder::new(header.rest()).ok()?, size),
        _ => None,
    }?;
    Some(Section::from(bytes))
}

fn read_exactly(from: impl Read, size: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(size).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == size).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn zlib_section(claimed: u64) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"some debug information").unwrap();
        let mut bytes = vec![1, 0, 0, 0, 0, 0, 0, 0];
        bytes.extend_from_slice(&claimed.to_le_bytes());
        bytes.extend_from_slice(&1_u64.to_le_bytes());
        bytes.extend_from_slice(&encoder.finish().unwrap());
        bytes
    }

    #[test]
    fn a_compressed_section_has_the_size_that_its_header_claims_or_is_none() {
        let inflated = inflate(&zlib_section(22), Target::X86_64).unwrap();
        assert_eq!(&inflated[..], b"some debug information");
        assert!(inflate(&zlib_section(u64::MAX), Target::X86_64).is_none());
        assert!(inflate(&[1, 0, 0], Target::X86_64).is_none());
    }
}
