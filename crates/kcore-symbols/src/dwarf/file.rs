//! The DWARF sections of one file.

use std::{
    convert::Infallible,
    sync::{Arc, OnceLock},
};

use gimli::{
    Abbreviations, DebugAddrBase, DebugLoc, DebugLocLists, DebugRngListsBase, Dwarf, DwarfFileType,
    EndianReader, Error, LocationLists, Reader as _, RunTimeEndian, Section as _, SectionId,
};
use kcore_elf::{Image, Section};
use kcore_mem::{Budget, Endian};

use super::{Reader, Result, attributes::RangesLeft, bytes::Bytes, rows::Rows, shared::Shared};

/// Bytes of the shortest header of a unit: length, version, size of addresses, place of its abbreviations (DWARF 2 to 4).
const SHORTEST_UNIT: usize = 11;

/// How often the ranges of a file may be read: for functions, for the calls in them, and again where a unit was
/// closed.
const TIMES_READ: usize = 16;

/// A file with DWARF. The big sections are read piece by piece; the others are small, or needed
/// at any place of theirs.
pub struct DwarfFile {
    order: RunTimeEndian,
    info: Arc<Bytes>,
    abbrev: Arc<Bytes>,
    line: Arc<Bytes>,
    loc: Arc<Bytes>,
    loclists: Arc<Bytes>,
    locations: OnceLock<LocationLists<Reader>>,
    ranges_left: Arc<OnceLock<RangesLeft>>,
    /// Strings, addresses and range lists; nothing else.
    pub dwarf: Arc<Dwarf<Reader>>,
    /// Tables of abbreviations, by where they begin.
    pub abbreviations: Arc<Shared<usize, Abbreviations>>,
    /// Line programs that were run, by where they begin and the size of addresses.
    pub lines: Arc<Shared<(usize, u8), Rows>>,
    /// Whether its units are those of `.debug_types` (DWARF 4).
    pub is_types: bool,
    /// Says when readers have to end.
    pub budget: Budget,
    /// What split units have from their skeleton.
    pub skeleton: Option<SkeletonBases>,
}

/// What a skeleton unit knows of addresses.
#[derive(Clone, Copy, Debug)]
pub struct SkeletonBases {
    /// `DW_AT_low_pc`.
    pub low_pc: u64,
    /// `DW_AT_addr_base`.
    pub addr: DebugAddrBase<usize>,
    /// `DW_AT_GNU_ranges_base`, before DWARF 5.
    pub ranges: DebugRngListsBase<usize>,
}

impl DwarfFile {
    /// The sections of an image.
    pub fn open(image: &Image) -> Self {
        let order = order_of(image);
        let small = |id: SectionId| Ok(small_section(image, id, id.name(), order));
        let dwarf = Dwarf::load(small).unwrap_or_else(|never: Infallible| match never {});
        Self::with_streams(image, order, dwarf, |id| Some(id.name()))
    }

    /// The sections of a file that holds what was split off from `parent`.
    pub fn open_split(image: &Image, parent: &Self, skeleton: SkeletonBases) -> Self {
        let order = order_of(image);
        let small = |id: SectionId| {
            let name = id.dwo_name();
            Ok(name.map_or_else(|| empty(order), |name| small_section(image, id, name, order)))
        };
        let mut dwarf = Dwarf::load(small).unwrap_or_else(|never: Infallible| match never {});
        dwarf.make_dwo(&parent.dwarf);
        let file = Self::with_streams(image, order, dwarf, SectionId::dwo_name);
        let info = SectionId::DebugInfo.dwo_name().and_then(|name| joined(image, name, order));
        Self { skeleton: Some(skeleton), info: info.map_or(file.info, Arc::new), ..file }
    }

    /// What a package holds of one unit that was split off from `parent`. `is_types` says which of
    /// the two sections counts.
    pub fn of_package(
        parent: &Self,
        dwarf: Dwarf<Reader>,
        is_types: bool,
        skeleton: Option<SkeletonBases>,
    ) -> Self {
        let info = match is_types {
            true => dwarf.debug_types.reader().clone(),
            false => dwarf.debug_info.reader().clone(),
        };
        Self {
            order: parent.order,
            info: Arc::new(Bytes::Whole(info)),
            abbrev: Arc::new(Bytes::Whole(dwarf.debug_abbrev.reader().clone())),
            line: Arc::new(Bytes::Whole(dwarf.debug_line.reader().clone())),
            loc: Arc::new(Bytes::Whole(empty(parent.order))),
            loclists: Arc::new(Bytes::Whole(empty(parent.order))),
            locations: OnceLock::from(dwarf.locations.clone()),
            ranges_left: Arc::default(),
            abbreviations: Arc::new(Shared::new(dwarf.debug_abbrev.reader().len())),
            lines: Arc::new(Shared::new(dwarf.debug_line.reader().len())),
            dwarf: Arc::new(dwarf),
            is_types,
            budget: parent.budget.clone(),
            skeleton,
        }
    }

    fn with_streams(
        image: &Image,
        order: RunTimeEndian,
        dwarf: Dwarf<Reader>,
        name: impl Fn(SectionId) -> Option<&'static str>,
    ) -> Self {
        let stream = |id| {
            let name = name(id);
            Bytes::Stream(name.and_then(|name| image.section_stream(name)), order)
        };
        let (abbrev, line) = (stream(SectionId::DebugAbbrev), stream(SectionId::DebugLine));
        Self {
            order,
            info: Arc::new(stream(SectionId::DebugInfo)),
            abbreviations: Arc::new(Shared::new(abbrev.size())),
            lines: Arc::new(Shared::new(line.size())),
            abbrev: Arc::new(abbrev),
            line: Arc::new(line),
            loc: Arc::new(stream(SectionId::DebugLoc)),
            loclists: Arc::new(stream(SectionId::DebugLocLists)),
            locations: OnceLock::new(),
            ranges_left: Arc::default(),
            dwarf: Arc::new(dwarf),
            is_types: false,
            budget: image.budget().clone(),
            skeleton: None,
        }
    }

    /// The type units that DWARF 4 has in a section of their own; `None` without one.
    pub fn types(&self, image: &Image) -> Option<Self> {
        let name = SectionId::DebugTypes;
        let is_split = self.dwarf.file_type == DwarfFileType::Dwo;
        let name = if is_split { name.dwo_name()? } else { name.name() };
        let stream = || Some(Bytes::Stream(Some(image.section_stream(name)?), self.order));
        let info = joined(image, name, self.order).or_else(stream)?;
        Some(Self { info: Arc::new(info), is_types: true, ..self.shared() })
    }

    /// The same file as another skeleton sees it.
    pub fn for_skeleton(&self, skeleton: SkeletonBases) -> Self {
        Self { skeleton: Some(skeleton), ..self.shared() }
    }

    fn shared(&self) -> Self {
        Self {
            order: self.order,
            info: Arc::clone(&self.info),
            abbrev: Arc::clone(&self.abbrev),
            line: Arc::clone(&self.line),
            loc: Arc::clone(&self.loc),
            loclists: Arc::clone(&self.loclists),
            locations: self.locations.clone(),
            ranges_left: Arc::clone(&self.ranges_left),
            dwarf: Arc::clone(&self.dwarf),
            abbreviations: Arc::clone(&self.abbreviations),
            lines: Arc::clone(&self.lines),
            is_types: self.is_types,
            budget: self.budget.clone(),
            skeleton: self.skeleton,
        }
    }

    /// Which forms mean what they mean in files of split units.
    pub fn kind(&self) -> DwarfFileType {
        self.dwarf.file_type
    }

    /// Whether bytes stand with the most significant one first.
    pub fn is_big_endian(&self) -> bool {
        self.order == RunTimeEndian::Big
    }

    /// Bytes of `.debug_info`.
    pub fn info_size(&self) -> usize {
        self.info.size()
    }

    /// The bytes of the unit that begins at `start`, and where the next one begins.
    pub fn unit_bytes(&self, start: usize) -> Result<(Reader, usize)> {
        let range = self.info.sized(start)?;
        let next = range.end;
        Ok((self.info.get(range)?, next))
    }

    /// Where the unit after the one at `start` begins; reads only its length.
    ///
    /// # Errors
    /// When the section ends there, or the unit is too short to be one: of zeros, any number would lie side by side.
    pub fn next_unit(&self, start: usize) -> Result<usize> {
        let unit = self.info.sized(start)?;
        if unit.len() < SHORTEST_UNIT {
            return Err(Error::NoEntryAtGivenOffset(start as u64));
        }
        Ok(unit.end)
    }

    /// The bytes of the line program that begins at `start`.
    pub fn line_bytes(&self, start: usize) -> Result<Reader> {
        self.line.get(self.line.sized(start)?)
    }

    /// Bytes of `.debug_line`.
    pub fn line_size(&self) -> usize {
        self.line.size()
    }

    /// At most `len` bytes of `.debug_abbrev` from `start` on, and whether more follow.
    pub fn abbreviation_bytes(&self, start: usize, len: usize) -> Result<(Reader, bool)> {
        let size = self.abbrev.size();
        let end = start.saturating_add(len).min(size);
        Ok((self.abbrev.get(start..end)?, end < size))
    }

    /// The location lists. Their sections are read when the first one is needed: stacks without
    /// variables do without.
    pub fn locations(&self) -> &LocationLists<Reader> {
        self.locations.get_or_init(|| {
            let whole = |bytes: &Bytes| {
                let bytes = bytes.get(0..bytes.size());
                bytes.unwrap_or_else(|_| empty(self.order))
            };
            let lists = DebugLocLists::from(whole(&self.loclists));
            LocationLists::new(DebugLoc::from(whole(&self.loc)), lists)
        })
    }

    /// How many ranges may still be read of functions, and of calls that are inlined into them, for all units
    /// together.
    pub fn ranges_left(&self) -> &RangesLeft {
        self.ranges_left.get_or_init(|| RangesLeft::of(self).times(TIMES_READ))
    }

    /// The section that holds those of DWARF 5.
    pub fn location_lists(&self) -> Reader {
        let mut section = empty(self.order);
        // gimli has no other way to it: of two sections it is the last.
        self.locations().borrow(|each| section = each.clone());
        section
    }

    /// Owned bytes to be read in the byte order of the file.
    pub fn reader(&self, bytes: Vec<u8>) -> Reader {
        self.reader_of(Section::from(bytes))
    }

    /// A section to be read in the byte order of the file.
    pub fn reader_of(&self, bytes: Section) -> Reader {
        EndianReader::new(bytes, self.order)
    }
}

/// The byte order of a file.
pub fn order_of(image: &Image) -> RunTimeEndian {
    match image.target().endian {
        Endian::Little => RunTimeEndian::Little,
        Endian::Big => RunTimeEndian::Big,
    }
}

/// A section, whole.
pub fn section(image: &Image, name: &str, order: RunTimeEndian) -> Reader {
    EndianReader::new(image.section_data(name).unwrap_or_default(), order)
}

/// The sections of that name one behind the other, if there are several: each type unit is in a group
/// of its own, of which a linker would keep one.
fn joined(image: &Image, name: &str, order: RunTimeEndian) -> Option<Bytes> {
    if image.count_parts(name) < 2 {
        return None;
    }
    let parts = image.section_parts(name);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(parts.iter().map(|part| part.len()).sum()).ok()?;
    parts.iter().for_each(|part| bytes.extend_from_slice(part));
    Some(Bytes::Whole(EndianReader::new(Section::from(bytes), order)))
}

fn small_section(image: &Image, id: SectionId, name: &str, order: RunTimeEndian) -> Reader {
    if is_small(id) { section(image, name, order) } else { empty(order) }
}

fn empty(order: RunTimeEndian) -> Reader {
    EndianReader::new(Section::empty(), order)
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
