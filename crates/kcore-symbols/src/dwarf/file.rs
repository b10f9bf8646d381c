//! The DWARF sections of one file.

use std::{
    convert::Infallible,
    ops::Range,
    sync::{Arc, OnceLock},
};

use gimli::{
    DebugLoc, DebugLocLists, Dwarf, EndianReader, Error, LocationLists, Reader as _,
    ReaderOffsetId, RunTimeEndian, SectionId,
};
use kcore_elf::{Image, Section, SectionStream};
use kcore_mem::Endian;

use super::{Reader, Result};

/// Bytes that the length of a unit or a line program takes, at most.
const LONGEST_LENGTH: usize = 12;

/// A file with DWARF. The big sections are read piece by piece; the others are small, or needed
/// at any place of theirs.
pub struct DwarfFile {
    order: RunTimeEndian,
    info: Option<Arc<SectionStream>>,
    abbrev: Option<Arc<SectionStream>>,
    line: Option<Arc<SectionStream>>,
    loc: Option<Arc<SectionStream>>,
    loclists: Option<Arc<SectionStream>>,
    locations: OnceLock<LocationLists<Reader>>,
    /// Strings, addresses and range lists; nothing else.
    pub dwarf: Dwarf<Reader>,
    /// `.debug_aranges`.
    pub aranges: Reader,
}

impl DwarfFile {
    /// The sections of an image.
    pub fn open(image: &Image) -> Self {
        let order = match image.target().endian {
            Endian::Little => RunTimeEndian::Little,
            Endian::Big => RunTimeEndian::Big,
        };
        let load = |id: SectionId| {
            let data = image.section_data(id.name()).unwrap_or_default();
            EndianReader::new(data, order)
        };
        let small = |id| Ok::<_, Infallible>(if is_small(id) { load(id) } else { empty(order) });
        Self {
            order,
            info: image.section_stream(".debug_info"),
            abbrev: image.section_stream(".debug_abbrev"),
            line: image.section_stream(".debug_line"),
            loc: image.section_stream(".debug_loc"),
            loclists: image.section_stream(".debug_loclists"),
            locations: OnceLock::new(),
            dwarf: Dwarf::load(small).unwrap_or_else(|never| match never {}),
            aranges: load(SectionId::DebugAranges),
        }
    }

    /// Bytes of `.debug_info`.
    pub fn info_size(&self) -> usize {
        self.info.as_ref().map_or(0, |info| info.size())
    }

    /// The bytes of the unit that begins at `start`, and where the next one begins.
    pub fn unit_bytes(&self, start: usize) -> Result<(Reader, usize)> {
        let range = self.sized(self.info.as_deref(), start)?;
        let next = range.end;
        Ok((self.bytes(self.info.as_deref(), range)?, next))
    }

    /// Where the unit after the one at `start` begins; reads only its length.
    pub fn next_unit(&self, start: usize) -> Result<usize> {
        self.sized(self.info.as_deref(), start).map(|range| range.end)
    }

    /// The bytes of the line program that begins at `start`.
    pub fn line_bytes(&self, start: usize) -> Result<Reader> {
        let range = self.sized(self.line.as_deref(), start)?;
        self.bytes(self.line.as_deref(), range)
    }

    /// At most `len` bytes of `.debug_abbrev` from `start` on, and whether more follow.
    pub fn abbreviation_bytes(&self, start: usize, len: usize) -> Result<(Reader, bool)> {
        let size = self.abbrev.as_ref().map_or(0, |abbrev| abbrev.size());
        let end = start.saturating_add(len).min(size);
        Ok((self.bytes(self.abbrev.as_deref(), start..end)?, end < size))
    }

    /// The location lists. Their sections are read when the first one is needed: stacks without
    /// variables do without.
    pub fn locations(&self) -> &LocationLists<Reader> {
        self.locations.get_or_init(|| {
            let loc = DebugLoc::from(self.whole(self.loc.as_deref()));
            LocationLists::new(loc, DebugLocLists::from(self.whole(self.loclists.as_deref())))
        })
    }

    /// Owned bytes to be read in the byte order of the file.
    pub fn reader(&self, bytes: Vec<u8>) -> Reader {
        EndianReader::new(Section::from(bytes), self.order)
    }

    /// The place of what begins at `start` with its own length.
    fn sized(&self, stream: Option<&SectionStream>, start: usize) -> Result<Range<usize>> {
        let size = stream.map_or(0, SectionStream::size);
        let end = start.saturating_add(LONGEST_LENGTH).min(size);
        let mut head = self.bytes(stream, start..end)?;
        let (len, format) = head.read_initial_length()?;
        let end = start
            .checked_add(usize::from(format.initial_length_size()))
            .and_then(|end| end.checked_add(len));
        Ok(start..end.ok_or_else(|| cut(start))?)
    }

    fn whole(&self, stream: Option<&SectionStream>) -> Reader {
        let bytes = stream.and_then(SectionStream::whole).unwrap_or_else(Section::empty);
        EndianReader::new(bytes, self.order)
    }

    fn bytes(&self, stream: Option<&SectionStream>, range: Range<usize>) -> Result<Reader> {
        let start = range.start;
        let bytes = stream.and_then(|stream| stream.get(range)).ok_or_else(|| cut(start))?;
        Ok(EndianReader::new(bytes, self.order))
    }
}

fn empty(order: RunTimeEndian) -> Reader {
    EndianReader::new(Section::empty(), order)
}

/// The section ends, or its compressed form is damaged, before what is at `at` ends.
const fn cut(at: usize) -> Error {
    Error::UnexpectedEof(ReaderOffsetId(at as u64))
}

const fn is_small(id: SectionId) -> bool {
    matches!(
        id,
        SectionId::DebugAddr
            | SectionId::DebugLineStr
            | SectionId::DebugRanges
            | SectionId::DebugRngLists
            | SectionId::DebugStr
            | SectionId::DebugStrOffsets
    )
}
