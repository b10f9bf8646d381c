//! What a module tells of itself from memory alone: its header page, and what lies behind it.

use kcore_mem::{Addr, AddressSpace, Arch, Cursor, FileOff, Svma};

use crate::{BuildId, Image, ImageSegment, core_file::notes};

const PT_DYNAMIC: u32 = 2;
const PT_NOTE: u32 = 4;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;
/// Program headers that are read, at most: linkers write some ten. Each may be said to lie in the
/// same memory as those of other modules, so that many of them would make much out of little.
const MAX_SEGMENTS: u16 = 64;
/// Bytes of notes that are read for a module, at most: build-id and property notes take some 100.
const MAX_NOTES: u64 = 16 << 10;

/// A module as its mapped ELF header describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryImage {
    /// `e_type`: 2 executable, 3 shared.
    pub elf_type: u16,
    /// `e_machine`.
    pub arch: Arch,
    /// `e_entry`.
    pub entry: Svma,
    /// What is added to an [`Svma`] of this module to make an [`Addr`], modulo 2^64.
    pub bias: i64,
    /// The program headers.
    pub segments: Vec<ImageSegment>,
    /// The build-id, if its note lies in memory that was dumped.
    pub build_id: Option<BuildId>,
}

impl MemoryImage {
    /// Reads the ELF header mapped at `base`, and the program headers at their file offset from it; `None` when
    /// there are none or they were not dumped.
    pub fn load(space: &dyn AddressSpace, base: Addr) -> Option<Self> {
        Self::load_placed(space, base, &|offset| Vec::from_iter(base.checked_add(offset.get())))
    }

    /// Reads the ELF header mapped at `base`, and the program headers wherever they are mapped: tools that rewrite
    /// files (BOLT, patchelf) move them to the end of the file. `places` returns the addresses at which an offset of
    /// the file may be mapped; the first whose program headers agree with it counts. There may be several, since the
    /// dynamic linker first maps a library as one piece. `None` when there are none or they were not dumped.
    pub fn load_placed(
        space: &dyn AddressSpace,
        base: Addr,
        places: &dyn Fn(FileOff) -> Vec<Addr>,
    ) -> Option<Self> {
        let header = read_header(space, base)?;
        places(header.table).into_iter().find_map(|at| {
            let segments = parse_table(&read_table(space, at, header.count)?, space);
            let image = Self::from_segments(space, base, &header, segments)?;
            image.has_table_at(header.table, at).then_some(image)
        })
    }

    /// Whether the segments agree that file offset `table` is mapped at `at`, or do not cover it.
    fn has_table_at(&self, table: FileOff, at: Addr) -> bool {
        let mut loads = self.segments.iter().filter(|segment| segment.is_load());
        let holder = loads.find(|segment| {
            let into = table.get().checked_sub(segment.offset.get());
            into.is_some_and(|into| into < segment.file_size)
        });
        holder.is_none_or(|holder| {
            let into = table.get().wrapping_sub(holder.offset.get());
            self.addr(Svma::new(holder.svma.get().wrapping_add(into))) == at
        })
    }

    /// Reads the program headers mapped at `at`, where `AT_PHDR` says they are; `count` of them.
    /// The bias comes from `PT_PHDR`, or is 0 without one.
    pub fn from_program_headers(space: &dyn AddressSpace, at: Addr, count: u16) -> Option<Self> {
        const PT_PHDR: u32 = 6;
        let table = read_table(space, at, count)?;
        if table.len() as u64 != table_size(space, count)? {
            return None;
        }
        let segments = parse_table(&table, space);
        let own = segments.iter().find(|segment| segment.kind == PT_PHDR);
        let bias = own.map_or(0, |own| at.get().wrapping_sub(own.svma.get()).cast_signed());
        let arch = space.target().arch;
        let elf_type = if bias == 0 { 2 } else { 3 };
        let image = Self { elf_type, arch, entry: Svma::new(0), bias, segments, build_id: None };
        let build_id = image.find_build_id(space);
        Some(Self { build_id, ..image })
    }

    /// What the file of a module says, for a core that does not hold the module's headers.
    pub fn of_file(file: &Image, bias: i64) -> Self {
        Self {
            elf_type: if bias == 0 { 2 } else { 3 },
            arch: file.target().arch,
            entry: file.entry(),
            bias,
            segments: file.segments().to_vec(),
            build_id: None,
        }
    }

    fn from_segments(
        space: &dyn AddressSpace,
        base: Addr,
        header: &Header,
        segments: Vec<ImageSegment>,
    ) -> Option<Self> {
        let first = segments.iter().find(|segment| segment.is_load())?;
        // `base` is where file offset 0 is mapped, which need not be the segment's first byte.
        let start = first.svma.get().wrapping_sub(first.offset.get());
        let bias = base.get().wrapping_sub(start).cast_signed();
        let Header { elf_type, arch, entry, .. } = *header;
        let image = Self { elf_type, arch, entry, bias, segments, build_id: None };
        let build_id = image.find_build_id(space);
        Some(Self { build_id, ..image })
    }

    /// The address at which an address of the file lies in the process.
    pub const fn addr(&self, svma: Svma) -> Addr {
        Addr::new(svma.get().wrapping_add_signed(self.bias))
    }

    /// Where `.eh_frame_hdr` lies: address and bytes.
    pub fn eh_frame_hdr(&self) -> Option<(Svma, u64)> {
        self.segment(PT_GNU_EH_FRAME).map(|segment| (segment.svma, segment.mem_size))
    }

    /// Where the dynamic section lies.
    pub fn dynamic(&self) -> Option<Svma> {
        self.segment(PT_DYNAMIC).map(|segment| segment.svma)
    }

    fn segment(&self, kind: u32) -> Option<&ImageSegment> {
        self.segments.iter().find(|segment| segment.kind == kind)
    }

    fn find_build_id(&self, space: &dyn AddressSpace) -> Option<BuildId> {
        let mut left = MAX_NOTES;
        let mut notes = self.segments.iter().filter(|segment| segment.kind == PT_NOTE);
        notes.find_map(|note| {
            let bytes = space.read_held(self.addr(note.svma), note.file_size.min(left));
            left = left.saturating_sub(bytes.len() as u64);
            notes::build_id(&bytes, space.target())
        })
    }
}

struct Header {
    elf_type: u16,
    arch: Arch,
    entry: Svma,
    /// `e_phoff`: where the program headers lie in the file.
    table: FileOff,
    /// `e_phnum`: how many there are.
    count: u16,
}

/// Bytes of one program header for the target's word size. The kernel and the dynamic linker refuse
/// a module whose header says otherwise.
fn entry_size(space: &dyn AddressSpace) -> usize {
    ImageSegment::size(space.target())
}

fn max_table(space: &dyn AddressSpace) -> u64 {
    u64::from(MAX_SEGMENTS).saturating_mul(entry_size(space) as u64)
}

/// Whether an ELF header is mapped at `base`.
pub fn has_header(space: &dyn AddressSpace, base: Addr) -> bool {
    let mut magic = [0_u8; 4];
    space.read_partial(base, &mut magic).0 == magic.len() && magic == *b"\x7fELF"
}

fn read_header(space: &dyn AddressSpace, base: Addr) -> Option<Header> {
    let mut raw = [0_u8; 64];
    let (read, _) = space.read_partial(base, &mut raw);
    let raw = raw.get(..read).filter(|raw| raw.starts_with(b"\x7fELF"))?;
    let mut cursor = Cursor::new(raw, space.target());
    cursor.skip(16).ok()?;
    let elf_type = cursor.u16().ok()?;
    let arch = Arch::from_elf(cursor.u16().ok()?, space.target().word);
    cursor.skip(4).ok()?;
    let entry = Svma::new(cursor.word().ok()?);
    let table = FileOff::new(cursor.word().ok()?);
    cursor.word().ok()?;
    cursor.skip(8).ok()?;
    let count = cursor.u16().ok()?;
    Some(Header { elf_type, arch, entry, table, count })
}

/// Bytes of a table of `count` program headers, as many of them as are read.
fn table_size(space: &dyn AddressSpace, count: u16) -> Option<u64> {
    let size = u64::from(count).checked_mul(entry_size(space) as u64)?;
    Some(size.min(max_table(space)))
}

fn read_table(space: &dyn AddressSpace, at: Addr, count: u16) -> Option<Vec<u8>> {
    Some(space.read_held(at, table_size(space, count)?))
}

fn parse_table(table: &[u8], space: &dyn AddressSpace) -> Vec<ImageSegment> {
    let entries = table.chunks_exact(entry_size(space));
    entries.filter_map(|raw| ImageSegment::parse(raw, space.target())).collect()
}
