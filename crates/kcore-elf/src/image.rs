//! The file of a module: segments, sections, symbols, build-id. goblin parses, and stays in here.
//!
//! goblin's `Elf::parse` reads more than kcore wants (it validates every string table), so its
//! parts are called one by one. Damage in one table leaves the others usable.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use goblin::{
    container::{Container, Ctx, Endian as GoblinEndian},
    elf::{header::Header, section_header::SectionHeader},
};
use kcore_mem::{Arch, Budget, Endian, FileOff, Svma, Target};

use crate::{
    BuildId, FileBytes, ParseError, Section, SectionStream,
    core_file::notes,
    ident::target_of_ident,
    image_section::ImageSection,
    image_segment::ImageSegment,
    image_symbol::{self, ImageSymbol, SymbolTableKind},
};

const PT_DYNAMIC: u32 = 2;
const PT_NOTE: u32 = 4;
const SHT_NOTE: u32 = 7;

/// A module's file (an executable, a library, a debug file, the vdso).
#[derive(Debug)]
pub struct Image {
    bytes: FileBytes,
    target: Target,
    ctx: Ctx,
    elf_type: u16,
    entry: Svma,
    program_headers: FileOff,
    segments: Vec<ImageSegment>,
    sections: Vec<ImageSection>,
    /// What is inflated of compressed sections, by section index.
    streams: Mutex<BTreeMap<usize, Option<Arc<SectionStream>>>>,
    /// The budget that inflated sections are charged to.
    budget: Budget,
    /// The name of the file in notes about its sections.
    name: Option<String>,
}

impl Image {
    /// Reads the headers of an ELF file; tables and sections are read when asked for.
    ///
    /// # Errors
    /// When the bytes are not ELF. A file without section headers, or with damaged ones, is an
    /// image without sections.
    pub fn parse(bytes: FileBytes) -> Result<Self, ParseError> {
        if bytes.get(..4) != Some(b"\x7fELF") {
            return Err(ParseError::NotElf(bytes.iter().take(4).copied().collect()));
        }
        let malformed = |error: goblin::error::Error| ParseError::Malformed(error.to_string());
        let header = goblin::elf::Elf::parse_header(&bytes).map_err(malformed)?;
        let target = target_of_ident(&header.e_ident)?;
        let target = Target { arch: machine_of(&header, target), ..target };
        let ctx = context_of(target);
        let segments = parse_segments(&bytes, &header, target).unwrap_or_default();
        let sections = parse_sections(&bytes, &header, ctx).unwrap_or_default();
        Ok(Self {
            target,
            ctx,
            elf_type: header.e_type,
            entry: Svma::new(header.e_entry),
            program_headers: FileOff::new(header.e_phoff),
            segments,
            sections,
            bytes,
            streams: Mutex::default(),
            budget: Budget::default(),
            name: None,
        })
    }

    /// The budget of the commands that read it.
    pub const fn budget(&self) -> &Budget {
        &self.budget
    }

    /// The same image; its inflated sections are charged to `budget`, and notes call it `name`.
    #[must_use]
    pub fn within(self, budget: &Budget, name: impl Into<String>) -> Self {
        Self { budget: budget.clone(), name: Some(name.into()), ..self }
    }

    /// Architecture, word size and byte order.
    pub const fn target(&self) -> Target {
        self.target
    }

    /// `e_type`: 2 executable, 3 shared, 4 core.
    pub const fn elf_type(&self) -> u16 {
        self.elf_type
    }

    /// `e_entry`.
    pub const fn entry(&self) -> Svma {
        self.entry
    }

    /// The bytes of the file.
    pub const fn bytes(&self) -> &FileBytes {
        &self.bytes
    }

    /// The program headers.
    pub fn segments(&self) -> &[ImageSegment] {
        &self.segments
    }

    /// The section headers, by index; index 0 is the null section.
    pub fn sections(&self) -> &[ImageSection] {
        &self.sections
    }

    /// The section of this exact name.
    pub fn section(&self, name: &str) -> Option<&ImageSection> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The bytes of a section, inflated where the file holds them compressed. `None` when there is
    /// no such section, when it has no bytes in this file (`.bss`, or anything in a debug file),
    /// or when they are damaged.
    pub fn section_data(&self, name: &str) -> Option<Section> {
        let section = self.section(name)?;
        if section.is_compressed() {
            return self.section_stream(name)?.whole();
        }
        self.raw_section(section)
    }

    /// The same section to be read piece by piece, so that a compressed one is inflated only as
    /// far as it is needed, and once for all who need it.
    pub fn section_stream(&self, name: &str) -> Option<Arc<SectionStream>> {
        self.stream_at(self.sections.iter().position(|section| section.name == name)?)
    }

    fn stream_at(&self, index: usize) -> Option<Arc<SectionStream>> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.entry(index).or_insert_with(|| self.open_stream(index)).clone()
    }

    /// How many sections have that name.
    pub fn count_parts(&self, name: &str) -> usize {
        self.sections.iter().filter(|section| section.name == name).count()
    }

    /// All sections of that name, in the order of the table: objects that are not linked have one for
    /// each group.
    pub fn section_parts(&self, name: &str) -> Vec<Section> {
        let all = self.sections.iter().enumerate().filter(|(_, section)| section.name == name);
        all.filter_map(|(index, _)| self.stream_at(index)?.whole()).collect()
    }

    fn open_stream(&self, index: usize) -> Option<Arc<SectionStream>> {
        let section = self.sections.get(index)?;
        let raw = self.raw_section(section)?;
        let stream = if section.is_compressed() {
            let of_file = self.name.iter().map(|name| format!(" of {name}")).collect::<String>();
            let name = || format!("{}{of_file}", section.name);
            if section.is_gnu_compressed() {
                SectionStream::gnu_compressed(raw, &self.budget, name)?
            } else {
                SectionStream::compressed(&raw, self.target, &self.budget, name)?
            }
        } else {
            SectionStream::plain(raw)
        };
        Some(Arc::new(stream))
    }

    fn raw_section(&self, section: &ImageSection) -> Option<Section> {
        let (start, size) = section.file_range()?;
        self.bytes.section(start.get()..start.checked_add(size)?.get())
    }

    /// `e_phoff`: where the program headers lie in the file.
    pub const fn program_headers(&self) -> FileOff {
        self.program_headers
    }

    /// The loaded bytes from `svma` to the end of their segment in the file.
    pub fn bytes_at(&self, svma: Svma) -> Option<&[u8]> {
        let segment = self.segments.iter().filter(|segment| segment.is_load()).find(|segment| {
            svma.offset_from(segment.svma).is_some_and(|offset| offset < segment.file_size)
        })?;
        let into = svma.offset_from(segment.svma)?;
        let start = usize::try_from(segment.offset.checked_add(into)?.get()).ok()?;
        let len = usize::try_from(segment.file_size.checked_sub(into)?).ok()?;
        let end = start.checked_add(len)?.min(self.bytes.len());
        self.bytes.intact(start..end)
    }

    /// The dynamic section: where it lies, and its bytes.
    pub fn dynamic(&self) -> Option<(Svma, &[u8])> {
        let segment = self.segments.iter().find(|segment| segment.kind == PT_DYNAMIC)?;
        let len = usize::try_from(segment.file_size).ok()?;
        let bytes = self.bytes_at(segment.svma)?;
        Some((segment.svma, bytes.get(..len).unwrap_or(bytes)))
    }

    /// The build-id.
    pub fn build_id(&self) -> Option<BuildId> {
        self.note_bytes().find_map(|bytes| notes::build_id(&bytes, self.target))
    }

    /// The descriptor of the first note of this owner and type.
    pub fn note(&self, owner: &[u8], kind: u32) -> Option<Vec<u8>> {
        self.note_bytes().find_map(|bytes| {
            notes::Notes::new(&bytes, self.target)
                .find(|note| note.owner == owner && note.kind == kind)
                .map(|note| note.desc.to_vec())
        })
    }

    /// The bytes of note segments and, for a debug file, which has none, of note sections.
    fn note_bytes(&self) -> impl Iterator<Item = Section> {
        let segments = self.segments.iter().filter(|segment| segment.kind == PT_NOTE);
        let ranges = segments.map(|segment| (segment.offset, segment.file_size));
        let sections = self.sections.iter().filter(|section| section.kind == SHT_NOTE);
        ranges.chain(sections.filter_map(ImageSection::file_range)).filter_map(|(start, len)| {
            self.bytes.section(start.get()..start.checked_add(len)?.get())
        })
    }

    /// The name and CRC32 of a separate debug file (`.gnu_debuglink`).
    pub fn debug_link(&self) -> Option<(Vec<u8>, u32)> {
        let data = self.section_data(".gnu_debuglink")?;
        let mut cursor = kcore_mem::Cursor::new(&data, self.target);
        let name = cursor.cstr().ok()?.to_vec();
        cursor.align(4);
        Some((name, cursor.u32().ok()?))
    }

    /// The symbols of a table in table order, without the null symbol; none when there is no such
    /// table.
    pub fn symbols(&self, table: SymbolTableKind) -> impl Iterator<Item = ImageSymbol<'_>> {
        let section = self.symbol_section(table);
        let strings = section.and_then(|section| self.strings_of(section));
        let strings = strings.and_then(|range| self.bytes.get(range)).unwrap_or_default();
        let (bytes, entry) = section.and_then(|section| self.symtab(section)).unwrap_or((&[], 1));
        let symbols = bytes.chunks_exact(entry).enumerate().skip(1);
        symbols.filter_map(move |(index, bytes)| {
            let symbol = image_symbol::parse(bytes, self.ctx)?;
            Some(self.with_code(ImageSymbol::new(index, &symbol, strings)))
        })
    }

    /// Name, kind and value of the symbols of a table, as the file states them.
    pub(crate) fn stated_symbols(
        &self,
        table: SymbolTableKind,
    ) -> impl Iterator<Item = (&[u8], crate::SymbolKind, Svma)> {
        let section = self.symbol_section(table);
        let strings = section.and_then(|section| self.strings_of(section));
        let strings = strings.and_then(|range| self.bytes.get(range)).unwrap_or_default();
        let (bytes, entry) = section.and_then(|section| self.symtab(section)).unwrap_or((&[], 1));
        bytes.chunks_exact(entry).enumerate().skip(1).filter_map(move |(index, bytes)| {
            let symbol = image_symbol::parse(bytes, self.ctx)?;
            let symbol = ImageSymbol::new(index, &symbol, strings);
            Some((symbol.name(), symbol.kind, symbol.value))
        })
    }

    /// The symbol at `index` of a table; 0 is the null symbol.
    pub fn symbol(&self, table: SymbolTableKind, index: usize) -> Option<ImageSymbol<'_>> {
        let section = self.symbol_section(table)?;
        let (bytes, entry) = self.symtab(section)?;
        let symbol = image_symbol::parse(bytes.chunks_exact(entry).nth(index)?, self.ctx)?;
        let strings = self.strings_of(section).and_then(|range| self.bytes.get(range));
        Some(self.with_code(ImageSymbol::new(index, &symbol, strings.unwrap_or_default())))
    }

    /// A symbol with the address of its code, where the file states another: Arm sets bit 0 for functions in Thumb
    /// code, and the first ABI of 64-bit PowerPC states where a descriptor lies whose first word is the address.
    fn with_code<'s>(&self, symbol: ImageSymbol<'s>) -> ImageSymbol<'s> {
        let value = symbol.value.get();
        let code = match self.target.arch {
            Arch::Arm if symbol.kind.is_function() => Some(value & !1),
            Arch::PowerPc64 if symbol.kind.is_function() && symbol.is_defined() => {
                self.described_code(&symbol)
            }
            _ => None,
        };
        code.map_or(symbol, |code| symbol.at(Svma::new(code)))
    }

    /// The code of a function's descriptor, which lies in data.
    fn described_code(&self, symbol: &ImageSymbol<'_>) -> Option<u64> {
        /// `SHF_EXECINSTR`.
        const CODE: u64 = 4;
        let section = self.sections.get(usize::from(symbol.section))?;
        if section.flags & CODE != 0 {
            return None;
        }
        let code = self.bytes_at(symbol.value)?.first_chunk()?;
        Some(self.target.uint64(*code)).filter(|code| *code != 0)
    }

    /// How many symbols a table has, with the null symbol.
    pub fn symbol_count(&self, table: SymbolTableKind) -> usize {
        let table = self.symbol_section(table).and_then(|section| self.symtab(section));
        table.map_or(0, |(bytes, entry)| bytes.chunks_exact(entry).len())
    }

    /// The bytes of a symbol table, and how many of them a symbol takes.
    fn symtab(&self, section: &ImageSection) -> Option<(&[u8], usize)> {
        let (start, size) = section.file_range()?;
        let start = usize::try_from(start.get()).ok()?;
        let left = self.bytes.len().checked_sub(start)?;
        let size = usize::try_from(size).ok()?.min(left);
        let bytes = self.bytes.get(start..start.checked_add(size)?)?;
        Some((bytes, goblin::elf::Sym::size(self.ctx.container)))
    }

    /// The strings that hold the names of a table's symbols; empty when there is no such table.
    pub fn symbol_strings(&self, table: SymbolTableKind) -> Section {
        let section = self.symbol_section(table);
        let range = section.and_then(|section| self.strings_of(section));
        let range = range.map(|range| range.start as u64..range.end as u64);
        range.and_then(|range| self.bytes.section(range)).unwrap_or_else(Section::empty)
    }

    fn symbol_section(&self, table: SymbolTableKind) -> Option<&ImageSection> {
        self.sections.iter().find(|section| section.kind == table.section_type())
    }

    fn strings_of(&self, section: &ImageSection) -> Option<std::ops::Range<usize>> {
        let strings = self.sections.get(usize::try_from(section.link).ok()?)?;
        let (start, size) = strings.file_range()?;
        let start = usize::try_from(start.get()).ok()?;
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        Some(start..end.min(self.bytes.len()))
    }
}

fn context_of(target: Target) -> Ctx {
    let container = if target.word == 8 { Container::Big } else { Container::Little };
    let endian = match target.endian {
        Endian::Little => GoblinEndian::Little,
        Endian::Big => GoblinEndian::Big,
    };
    Ctx::new(container, endian)
}

/// The machine of a file, whose flags tell n32 from o32 (`EF_MIPS_ABI2`, binutils `include/elf/mips.h`).
fn machine_of(header: &goblin::elf::Header, target: Target) -> Arch {
    const N32: u32 = 0x20;
    match Arch::from_elf(header.e_machine, target.word) {
        Arch::Mips if header.e_flags & N32 != 0 => Arch::Mips64,
        arch => arch,
    }
}

/// The program headers, as many as the file holds of those that it claims.
fn parse_segments(bytes: &[u8], header: &Header, target: Target) -> Option<Vec<ImageSegment>> {
    let start = usize::try_from(header.e_phoff).ok()?;
    let entries = bytes.get(start..)?.chunks_exact(ImageSegment::size(target));
    let claimed = entries.take(usize::from(header.e_phnum));
    Some(claimed.filter_map(|raw| ImageSegment::parse(raw, target)).collect())
}

fn parse_sections(bytes: &[u8], header: &Header, ctx: Ctx) -> Option<Vec<ImageSection>> {
    let offset = usize::try_from(header.e_shoff).ok()?;
    let headers = SectionHeader::parse(bytes, offset, usize::from(header.e_shnum), ctx).ok()?;
    let names = headers.get(usize::from(header.e_shstrndx)).and_then(|names| {
        let start = usize::try_from(names.sh_offset).ok()?;
        bytes.get(start..start.checked_add(usize::try_from(names.sh_size).ok()?)?)
    });
    let names = names.unwrap_or_default();
    Some(headers.iter().map(|header| ImageSection::new(header, names)).collect())
}
